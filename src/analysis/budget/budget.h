#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/naming/described_names.h"
#include "analysis/stages/stages.h"

namespace llmprof {

// The parts of a stage's wall time. GPU time is charged once: where several kernels overlap, to the
// one that started first; communication only where nothing else runs; memory operations only where
// no kernel does. The classes come first, in the order of KernelClass.
inline constexpr size_t kClassParts = static_cast<size_t>(KernelClass::other) + 1;
enum class BudgetPart : uint8_t {
  hidden_graphs = kClassParts,  // graph replays whose kernels were not captured
  memory_operations,            // copies and fills
  idle_launch,                  // the launch came late: from its call to the kernel's start
  idle_synchronisation,         // the launching thread waited for the GPU
  idle_host,                    // the launching thread was outside of any CUDA call
  idle_queued,                  // launched in time, and yet the GPU waited
  idle_before_first,            // from the stage's start to its first GPU work
  idle_after_last,              // from its last GPU work to the stage's end
  unattributed,                 // GPU work of others, and idle time without any launch record
};
inline constexpr size_t kBudgetParts = static_cast<size_t>(BudgetPart::unattributed) + 1;
// "gemm", ..., "exposed communication" (that class), "memory copies and fills", "idle:
// launch-bound"
std::string_view budget_part_name(size_t part);
bool is_idle(size_t part);

using PartTimes = std::array<Nanoseconds, kBudgetParts>;

// Idle time of the GPU inside an instance, with what the host did then.
struct IdleGap {
  InstanceId instance;
  StepId step;  // none where it is in no step
  Nanoseconds start = 0;
  Nanoseconds end = 0;
  BudgetPart cause = BudgetPart::unattributed;  // the largest part of it
  StringId kernel_before;                       // none at the stage's edges
  StringId kernel_after;
  std::string host;  // what was open on the host: "cudaStreamSynchronize", "aten::item in sample"
};

struct StageBudget {
  uint32_t stage = 0;
  uint64_t instances = 0;  // that are no warm-up
  PartTimes total{};       // over them; divided by their number it is the stage's mean
};

// Why a step took longer than the median one of its stage.
struct SlowStep {
  StepId step;
  Nanoseconds above_median = 0;
  struct Reason {
    std::string what;  // "gap before <kernel> (host: ...)", "GEMM 128x272 sm90 (nvjet)"
    Nanoseconds longer = 0;
  };
  std::vector<Reason> reasons;  // the longest first, at most three
};

struct Budgets {
  std::vector<PartTimes> instances;  // one an instance; the parts of each sum to its wall time
  std::vector<StageBudget> stages;
  std::vector<IdleGap> gaps;         // the longest of each stage, longest first, at most 10 a stage
  std::vector<SlowStep> slow_steps;  // the slowest of each stage, at most 5 a stage
};

Budgets time_budgets(const Trace& trace, const Stages& stages, const DescribedNames& names);

}  // namespace llmprof
