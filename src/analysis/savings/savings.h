#pragma once

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "analysis/budget/budget.h"
#include "analysis/mfu/utilization.h"
#include "analysis/ranking/kernels.h"
#include "analysis/roofline/roofline.h"
#include "analysis/untraced/untraced_times.h"
#include "profile/findings.h"

namespace llmprof::analysis {

// No upper limit for a saving, in ns.
inline constexpr double kAnySaving = std::numeric_limits<double>::infinity();

// The potential saving of a time above its floor, at most `most`.
inline double saving(double time, double floor, double most) {
  return std::clamp(time - floor, 0.0, most);
}

// A part of a stage's budget and the least time it could take.
struct SavingsPart {
  size_t part = 0;  // as in PartTimes
  double time = 0;  // ns per instance of the stage, mean
  double floor = 0;
  profile::Reasons floor_rule;
  double most = kAnySaving;
  [[nodiscard]] double potential() const { return saving(time, floor, most); }
};

struct StageSavings {
  uint32_t stage = 0;
  double wall = 0;  // ns per instance, mean, without untraced time
  // The end-to-end floor of an instance (of its traced steps), ns: the model's FLOPs or bytes at
  // the GPU's peaks, whichever takes longer. The sum of the parts' floors is not a bound, because a
  // part without a rule has its measured time as its floor.
  std::optional<double> bound;
  profile::Reasons bound_reason;  // why there is none
  // The stage's time without profiling above its lower bound, ns per instance, if that time is less
  // than `wall`.
  double most = kAnySaving;
  double tokens = 0;               // new tokens per instance, for figures per token
  double decode_steps = 0;         // per instance: each gives every sequence of its batch one token
  std::vector<SavingsPart> parts;  // largest potential saving first
};

std::vector<StageSavings> stage_savings(const Stages& stages, const Budgets& budgets,
                                        const UseOfPeaks& utilization);

// If the workload timed a stage itself, without profiling, and the recorded stage took longer, no
// saving exceeds that time above the lower bound.
void limit_to_unprofiled(const trace::Trace& trace, const Stages& stages,
                         std::vector<StageSavings>& savings);

// Each kernel's time in one stage, including all overlap, and the least it could take. If a
// profiler counted a kernel's bytes and FLOPs, and all its launches in the stage are like the
// profiled ones, its floor comes from these counts and the GPU's peaks (`gpu` null: unknown).
// Otherwise it is the kernel's share, by time, of its class's floor. Largest potential saving
// first.
std::vector<profile::KernelSaving> kernel_savings(const KernelRanking& ranking,
                                                  const std::vector<OpenedKernel>& opened,
                                                  uint64_t instances, const StageSavings& stage,
                                                  const RankedRoofline& roofline,
                                                  const llm::GpuSpec* gpu);

// The potential savings of each stage, by part and by kernel.
std::vector<profile::PotentialSavings> named_savings(const Stages& stages, trace::DeviceKind device,
                                                     const KernelRanking& ranking,
                                                     const std::vector<OpenedKernel>& opened,
                                                     const UntracedStages& untraced,
                                                     const std::vector<StageSavings>& of_stages,
                                                     const RankedRoofline& roofline,
                                                     const UseOfPeaks& use);

}  // namespace llmprof::analysis
