#pragma once

#include <vector>

#include "analysis/budget/budget.h"
#include "analysis/budget/gpu_timeline.h"
#include "analysis/budget/host_activity.h"

namespace llmprof::analysis {

// A gap before it is put into words.
struct GapFound {
  InstanceId instance;
  StepId step;
  Nanoseconds start = 0;
  Nanoseconds end = 0;
  Nanoseconds idle = 0;  // less than its length where others' work ran in it
  BudgetPart cause = BudgetPart::unattributed;
  GpuWorkRow before;
  GpuWorkRow after;
  bool has_before = false;
  bool has_after = false;
  bool in_graph = false;  // `after` came with the launch of a graph that was running
};

HostQuestion question_about(const trace::Trace& trace, const GapFound& gap);

// The gaps with the most idle time of each stage.
class LongestGaps {
 public:
  explicit LongestGaps(size_t stages) : by_stage_(stages) {}
  // Whether a gap of so much idle time would be kept: most are not, and need not be offered.
  [[nodiscard]] bool wants(uint32_t stage, Nanoseconds idle) const {
    const std::vector<GapFound>& heap = by_stage_[stage];
    return heap.size() < kKept || idle >= heap.front().idle;
  }
  void offer(uint32_t stage, const GapFound& gap);
  // By stage, the longest first.
  [[nodiscard]] std::vector<IdleGap> longest(const trace::Trace& trace, const DescribedNames& names,
                                             const CallsByThread& calls) const;
  // By stage, the largest total first.
  [[nodiscard]] std::vector<RepeatedGap> repeated(const trace::Trace& trace,
                                                  const DescribedNames& names,
                                                  const CallsByThread& calls) const;

 private:
  static constexpr size_t kKept = 1000;  // a stage: enough to see what comes back in every step

  [[nodiscard]] std::vector<GapFound> longest_of(size_t stage) const;

  std::vector<std::vector<GapFound>> by_stage_;  // heaps, the shortest in front
};

}  // namespace llmprof::analysis
