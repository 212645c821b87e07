#pragma once

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "analysis/budget/budget.h"
#include "analysis/mfu/utilization.h"
#include "analysis/ranking/kernel_shapes.h"
#include "analysis/roofline/roofline.h"
#include "analysis/untraced/untraced_times.h"
#include "profile/findings.h"

namespace llmprof::analysis {

// A saving in ns without an upper limit.
inline constexpr double kAnySaving = std::numeric_limits<double>::infinity();

// What a time above its floor could save: nothing can save more than `most`.
inline double saving(double time, double floor, double most) {
  return std::clamp(time - floor, 0.0, most);
}

// A part of a stage's budget beside the least time it could take.
struct SavingsPart {
  size_t part = 0;  // as in PartTimes
  double time = 0;  // ns per instance of the stage, mean
  double floor = 0;
  profile::Reasons floor_rule;
  double most = kAnySaving;
  [[nodiscard]] double recoverable() const { return saving(time, floor, most); }
};

struct StageSavings {
  uint32_t stage = 0;
  double wall = 0;  // ns per instance, mean, less what was not traced
  // The end-to-end floor of an instance (of its traced steps), ns: the model's FLOPs or bytes at
  // the GPU's peaks, whichever takes longer. The parts' own floors are no bound together: one
  // without a rule is the measured time.
  std::optional<double> bound;
  profile::Reasons bound_reason;  // why there is none
  // What the stage takes without profiling above its lower bound, ns per instance, where it takes
  // less than `wall`.
  double most = kAnySaving;
  double tokens = 0;               // new tokens per instance, for figures per token
  double decode_steps = 0;         // per instance: each gives every sequence in it one token
  std::vector<SavingsPart> parts;  // largest potential saving first
};

std::vector<StageSavings> recoverable_time(const Stages& stages, const Budgets& budgets,
                                           const Utilization& utilization);

// Where the workload timed a stage by itself, unprofiled, and the recorded one took longer, no
// saving is larger than that time above the lower bound.
void limit_to_unprofiled(const trace::Trace& trace, const Stages& stages,
                         std::vector<StageSavings>& recoverable);

// Each kernel's time in one stage, overlap counted in full, beside the least it could take. Where a
// profiler counted bytes and FLOPs of a kernel, and all its launches in the stage are like those,
// its floor is by them and the GPU's peaks (`gpu` null: not known). Otherwise it is its share, by
// time, of the floor of its class. Largest potential saving first.
std::vector<profile::RecoverableKernel> kernel_savings(
    const KernelRanking& ranking, const std::vector<OpenedKernel>& opened, uint64_t instances,
    const StageSavings& stage, const Roofline& roofline, const llm::GpuSpec* gpu);

// What each stage could save, by part and by kernel.
std::vector<profile::StageRecoverable> named_savings(
    const Stages& stages, trace::DeviceKind device, const KernelRanking& ranking,
    const std::vector<OpenedKernel>& opened, const Unwatched& unwatched,
    const std::vector<StageSavings>& of_stages, const Roofline& roofline, const Utilization& use);

}  // namespace llmprof::analysis
