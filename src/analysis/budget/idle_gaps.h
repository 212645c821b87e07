#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "analysis/budget/budget.h"
#include "analysis/budget/gpu_timeline.h"

namespace llmprof::analysis {

// A gap before its description is made.
struct GapFound {
  InstanceId instance;
  Nanoseconds start = 0;
  Nanoseconds end = 0;
  Nanoseconds idle = 0;  // less than its length if other work ran in it
  BudgetPart cause = BudgetPart::unattributed;
  std::optional<GpuWorkRow> before;  // none at the edges, like `after`
  std::optional<GpuWorkRow> after;
  bool in_graph = false;  // a graph launch that was already running started `after`
};

// One answer per gap, about the thread that launched the next work (after the last work: that
// work). It is the CUDA call that took longest in the gap; otherwise the operator and range open in
// the longest time outside calls; for queued work, how it was launched.
std::vector<profile::Reason> what_the_host_did(const trace::Trace& trace,
                                               const CallsByThread& calls,
                                               const std::vector<GapFound>& gaps);

// "cudaLaunchKernel" for nsys's "cudaLaunchKernel_v7000".
std::string_view plain_api_name(std::string_view api);

// The gaps with the most idle time in each stage.
class LongestGaps {
 public:
  explicit LongestGaps(size_t stages) : by_stage_(stages) {}

  // Whether a gap with this much idle time would be kept: most are not and need not be offered.
  [[nodiscard]] bool wants(uint32_t stage, Nanoseconds idle) const {
    const std::vector<GapFound>& heap = by_stage_[stage];
    return heap.size() < kKept || idle >= heap.front().idle;
  }
  void offer(uint32_t stage, const GapFound& gap);

  // Fills `gaps` and `repeated_gaps`.
  void describe(const trace::Trace& trace, const DescribedNames& names, const CallsByThread& calls,
                Budgets& budgets) const;

 private:
  static constexpr size_t kKept = 1000;  // per stage: enough to see what repeats in every step

  std::vector<std::vector<GapFound>> by_stage_;  // heaps, shortest first
};

}  // namespace llmprof::analysis
