#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "analysis/budget/budget.h"
#include "analysis/engine/engine.h"
#include "analysis/findings/findings.h"
#include "analysis/ranking/kernels.h"
#include "analysis/savings/savings.h"
#include "analysis/stages/selection.h"

namespace llmprof::analysis {

// One kernel name in one stage, over all instances that are no warm-up.
struct KernelInStage {
  size_t row = 0;  // of the ranking
  uint64_t calls = 0;
  Nanoseconds total = 0;
};

// Copies of one direction, or fills.
struct CopiesInStage {
  std::string what;  // "Host-to-Device"; "fill"; "copy" where the direction is not known
  uint64_t calls = 0;
  uint64_t bytes = 0;
  Nanoseconds total = 0;
};

// What ran the stage: advice must fit it.
struct ProgramSeen {
  std::string engine;     // "vLLM"; empty where none was recognized
  bool pytorch = false;   // the program uses it
  bool compiled = false;  // kernels of the stage that torch.compile generated
};

// What findings about one stage are made of. Figures are over `instances`, warm-ups excluded.
struct StageFacts {
  const Stage* stage = nullptr;
  const StageBudget* budget = nullptr;
  const StageSavings* recoverable = nullptr;
  const KernelRanking* ranking = nullptr;
  std::vector<const IdleGap*> gaps;               // of this stage
  std::vector<const SavingsPart*> by_part;        // null where the stage has none of it
  std::vector<const RepeatedGap*> repeated_gaps;  // of this stage
  std::vector<const SlowStep*> slow_steps;        // of this stage
  std::string unit;                               // what an instance is: Finding::unit
  ProgramSeen program;
  bool serving = false;
  bool on_cpu = false;
  bool memory_bound = false;  // by the model's cost
  uint64_t steps = 0;
  uint64_t kernels = 0;
  uint64_t graph_kernels = 0;  // of them, replayed by CUDA graphs
  uint64_t hidden_replays = 0;
  std::array<std::vector<KernelInStage>, kClassParts> by_class;  // longest total first
  std::vector<CopiesInStage> copies;                             // likewise

  [[nodiscard]] double instances() const { return static_cast<double>(budget->instances); }
  // ns per instance.
  [[nodiscard]] double time(size_t part) const {
    return by_part[part] == nullptr ? 0 : by_part[part]->time;
  }
  [[nodiscard]] double time(BudgetPart part) const { return time(static_cast<size_t>(part)); }
  [[nodiscard]] double time(KernelClass part) const { return time(static_cast<size_t>(part)); }
  [[nodiscard]] double recoverable_of(KernelClass part) const {
    const SavingsPart* known = by_part[static_cast<size_t>(part)];
    return known == nullptr ? 0 : known->recoverable();
  }
  // Whether its passes are those of decode: a detected prefill has a step, too.
  [[nodiscard]] bool decodes() const;
  // Its forward passes: steps where an instance is a loop of them, instances otherwise.
  [[nodiscard]] bool by_step() const { return !serving && decodes(); }
  [[nodiscard]] double passes() const {
    return by_step() ? static_cast<double>(steps) : instances();
  }
  [[nodiscard]] std::string_view pass() const {
    return by_step() ? std::string_view("step") : std::string_view(unit);
  }
  [[nodiscard]] std::string_view bound_by() const { return memory_bound ? "memory" : "compute"; }
};

// One entry per stage that has instances besides warm-ups.
std::vector<StageFacts> stage_facts(const FindingEvidence& evidence);

}  // namespace llmprof::analysis
