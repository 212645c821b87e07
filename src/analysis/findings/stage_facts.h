#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/findings/findings.h"
#include "profile/finding_values.h"

namespace llmprof::analysis {

// One kernel name in one stage, over all instances except warm-ups.
struct KernelInStage : Calls {
  size_t row = 0;  // of the ranking
};
using KernelsInStage = std::span<const KernelInStage>;

// Copies of one direction, or fills.
struct CopiesInStage : Calls {
  std::string what;  // "Host-to-Device"; "fill"; "copy" if the direction is unknown
  uint64_t bytes = 0;
};

// Inputs for findings about one stage. Figures are over `instances`, without warm-ups.
struct StageFacts {
  const FindingEvidence* evidence = nullptr;
  uint32_t index = 0;
  const Stage* stage = nullptr;
  const StageBudget* budget = nullptr;
  const StageSavings* savings = nullptr;
  std::vector<const IdleGap*> gaps;                   // of this stage
  std::vector<const SavingsPart*> by_part;            // null if the stage has no such part
  std::vector<const RepeatedIdleGap*> repeated_gaps;  // of this stage
  std::vector<const profile::SlowStep*> slow_steps;   // of this stage
  std::string unit;                                   // what an instance is: Finding::unit
  bool traced_part = false;                           // Finding::traced_part
  // What ran the stage: advice must fit it.
  std::string engine;         // "vLLM"; empty if none was recognized
  bool pytorch = false;       // the program uses PyTorch
  bool compiled = false;      // torch.compile generated kernels of the stage
  bool memory_bound = false;  // by the model's cost
  uint64_t steps = 0;
  uint64_t kernels = 0;
  uint64_t graph_kernels = 0;  // those that CUDA graphs replayed
  uint64_t hidden_replays = 0;
  std::array<std::vector<KernelInStage>, kClassParts> by_class;  // longest total first
  std::vector<CopiesInStage> copies;                             // longest total first

  [[nodiscard]] double instances() const { return static_cast<double>(budget->instances); }
  template <class Number>
  [[nodiscard]] double per_instance(Number sum) const {
    return static_cast<double>(sum) / instances();
  }
  [[nodiscard]] KernelsInStage of(KernelClass part) const {
    return by_class[static_cast<size_t>(part)];
  }
  [[nodiscard]] const KernelDescription& description(const KernelInStage& kernel) const {
    return evidence->ranking.rows[kernel.row].description;
  }
  // Null if the stage has no such part.
  template <class Part>
  [[nodiscard]] const SavingsPart* savings_of(Part part) const {
    return by_part[static_cast<size_t>(part)];
  }
  // ns per instance; `part` is a BudgetPart or a KernelClass.
  template <class Part>
  [[nodiscard]] double time(Part part) const {
    return savings_of(part) == nullptr ? 0 : savings_of(part)->time;
  }
  [[nodiscard]] double saving_of(KernelClass part) const {
    return savings_of(part) == nullptr ? 0 : savings_of(part)->potential();
  }
  [[nodiscard]] bool on_cpu() const {
    return evidence->utilization.device == trace::DeviceKind::cpu;
  }
  // Whether its passes are decode passes: a detected prefill has a step, too.
  [[nodiscard]] bool decodes() const;
  // Its forward passes: steps if an instance is a loop of passes, otherwise instances.
  [[nodiscard]] bool by_step() const { return !evidence->stages.serving && decodes(); }
  [[nodiscard]] double passes() const {
    return by_step() ? static_cast<double>(steps) : instances();
  }
  [[nodiscard]] std::string_view pass() const {
    return by_step() ? std::string_view("step") : std::string_view(unit);
  }
};

// One entry per stage with instances that are not warm-ups.
std::vector<StageFacts> stage_facts(const FindingEvidence& evidence);

// Adds a finding about this stage with a potential saving of `saving` ns per instance.
Finding& add_finding(const StageFacts& facts, profile::FindingKind kind, double saving,
                     profile::FindingValues values, std::vector<Finding>& findings);

// Lets these reasons provide the text of the named value; `nth` selects among values of one name.
void explain_value(std::string_view name, profile::Reasons reasons, Finding& finding,
                   size_t nth = 0);

// compiled, and engine and framework if they are known.
profile::FindingValues program_values(const StageFacts& facts);

// Each examines one stage and adds its findings; those too small to report are removed later.
// The GPU waits: for launches, for one slow host call, for a synchronization, between steps,
// between queued kernels, at the stage's edges. A CPU: outside operators.
void find_idle_time(const StageFacts& facts, std::vector<Finding>& findings);
// Kernels above their floor: GEMMs, attention, small kernels, copies, routing, sampling.
void find_kernel_time(const StageFacts& facts, std::vector<Finding>& findings);
// Communication and copies that computation does not hide.
void find_transfers(const StageFacts& facts, std::vector<Finding>& findings);
// Kernels that reach neither roof, by a kernel profiler's measurements. Only launches like the
// measured ones count, because another stage runs the same kernel on other sizes.
void find_latency_bound(const StageFacts& facts, std::vector<Finding>& findings);

}  // namespace llmprof::analysis
