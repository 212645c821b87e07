#pragma once

#include <string_view>
#include <vector>

#include "analysis/budget/budget.h"

namespace llmprof::analysis {

// Fills `host` of each gap, about the thread that launched the next work (after the last work: that
// work). It is the CUDA call that took longest in the gap; otherwise the operator and range open in
// the longest time outside calls; for queued work, how it was launched.
void find_host_activity(const trace::Trace& trace, const CallsByThread& calls,
                        const std::vector<IdleGap*>& gaps);

// "cudaLaunchKernel" for nsys's "cudaLaunchKernel_v7000".
std::string_view plain_api_name(std::string_view api);

// The gaps with the most idle time in each stage.
class LongestGaps {
 public:
  explicit LongestGaps(size_t stages) : by_stage_(stages) {}

  // Whether a gap with this much idle time would be kept: most are not and need not be offered.
  [[nodiscard]] bool wants(uint32_t stage, Nanoseconds idle) const {
    const std::vector<IdleGap>& heap = by_stage_[stage];
    return heap.size() < kKept || idle >= heap.front().idle;
  }
  void offer(uint32_t stage, const IdleGap& gap);

  // Fills `gaps` and `repeated_gaps`.
  void describe(const trace::Trace& trace, const DescribedNames& names, const CallsByThread& calls,
                Budgets& budgets) const;

 private:
  static constexpr size_t kKept = 1000;  // per stage: enough to see what repeats in every step

  std::vector<std::vector<IdleGap>> by_stage_;  // heaps, shortest first
};

}  // namespace llmprof::analysis
