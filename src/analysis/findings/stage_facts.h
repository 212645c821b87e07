#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/findings/findings.h"
#include "profile/finding_values.h"

namespace llmprof::analysis {

// One kernel name in one stage, over all instances that are no warm-up.
struct KernelInStage {
  size_t row = 0;  // of the ranking
  uint64_t calls = 0;
  Nanoseconds total = 0;
};
using KernelsInStage = std::span<const KernelInStage>;

// Copies of one direction, or fills.
struct CopiesInStage {
  std::string what;  // "Host-to-Device"; "fill"; "copy" where the direction is not known
  uint64_t calls = 0;
  uint64_t bytes = 0;
  Nanoseconds total = 0;
};

// What findings about one stage are made of. Figures are over `instances`, warm-ups excluded.
struct StageFacts {
  const FindingEvidence* evidence = nullptr;
  uint32_t index = 0;
  const Stage* stage = nullptr;
  const StageBudget* budget = nullptr;
  const StageSavings* recoverable = nullptr;
  std::vector<const IdleGap*> gaps;               // of this stage
  std::vector<const SavingsPart*> by_part;        // null where the stage has none of it
  std::vector<const RepeatedGap*> repeated_gaps;  // of this stage
  std::vector<const SlowStep*> slow_steps;        // of this stage
  std::string unit;                               // what an instance is: Finding::unit
  // What ran the stage: advice must fit it.
  std::string engine;         // "vLLM"; empty where none was recognized
  bool pytorch = false;       // the program uses it
  bool compiled = false;      // kernels of the stage that torch.compile generated
  bool memory_bound = false;  // by the model's cost
  uint64_t steps = 0;
  uint64_t kernels = 0;
  uint64_t graph_kernels = 0;  // of them, replayed by CUDA graphs
  uint64_t hidden_replays = 0;
  std::array<std::vector<KernelInStage>, kClassParts> by_class;  // longest total first
  std::vector<CopiesInStage> copies;                             // likewise

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
  // Null where the stage has none of it.
  template <class Part>
  [[nodiscard]] const SavingsPart* savings_of(Part part) const {
    return by_part[static_cast<size_t>(part)];
  }
  // ns per instance, of a BudgetPart or a KernelClass.
  template <class Part>
  [[nodiscard]] double time(Part part) const {
    return savings_of(part) == nullptr ? 0 : savings_of(part)->time;
  }
  [[nodiscard]] double recoverable_of(KernelClass part) const {
    return savings_of(part) == nullptr ? 0 : savings_of(part)->recoverable();
  }
  [[nodiscard]] bool on_cpu() const {
    return evidence->utilization.device == trace::DeviceKind::cpu;
  }
  // Whether its passes are those of decode: a detected prefill has a step, too.
  [[nodiscard]] bool decodes() const;
  // Its forward passes: steps where an instance is a loop of them, instances otherwise.
  [[nodiscard]] bool by_step() const { return !evidence->stages.serving && decodes(); }
  [[nodiscard]] double passes() const {
    return by_step() ? static_cast<double>(steps) : instances();
  }
  [[nodiscard]] std::string_view pass() const {
    return by_step() ? std::string_view("step") : std::string_view(unit);
  }
};

// One entry per stage that has instances besides warm-ups.
std::vector<StageFacts> stage_facts(const FindingEvidence& evidence);

// Adds a finding of this stage with a potential saving of `recoverable` ns per instance.
Finding& add_finding(const StageFacts& facts, profile::FindingKind kind, double recoverable,
                     profile::FindingValues values, std::vector<Finding>& findings);

// Leaves the text of that value, of several of one name the nth, to the words of these reasons.
void explain_value(std::string_view name, profile::Reasons reasons, Finding& finding,
                   size_t nth = 0);

// compiled, and engine and framework where they are known.
profile::FindingValues program_values(const StageFacts& facts);

// Each looks at one stage and adds what it finds; findings too small to report are removed later.
// The GPU waits: for launches, for one slow call on the host, for a synchronization, between steps,
// between queued kernels, at the stage's edges. A CPU: outside of its operators.
void find_idle_time(const StageFacts& facts, std::vector<Finding>& findings);
// Kernels above their floor: GEMMs, attention, small kernels, copies, routing, sampling.
void find_kernel_time(const StageFacts& facts, std::vector<Finding>& findings);
// Communication and copies that computation does not hide.
void find_transfers(const StageFacts& facts, std::vector<Finding>& findings);
// Kernels that reach neither roof, where a kernel profiler measured them: only launches like those
// that it measured, because another stage runs the same kernel on other sizes.
void find_latency_bound(const StageFacts& facts, std::vector<Finding>& findings);

}  // namespace llmprof::analysis
