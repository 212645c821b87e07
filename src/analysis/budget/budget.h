#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/budget/budget_basis.h"
#include "analysis/budget/gpu_timeline.h"
#include "analysis/naming/classes.h"
#include "analysis/stages/stages.h"
#include "profile/budget_parts.h"
#include "profile/reasons.h"
#include "profile/stages.h"
#include "profile/steps.h"

namespace llmprof::analysis {

using profile::kClassParts;
using BudgetPart = profile::TimePart;
// The parts that an analysis finds; parts of CPUs and jobs follow in the enumeration.
inline constexpr size_t kBudgetParts = static_cast<size_t>(BudgetPart::unattributed) + 1;
inline bool is_idle(size_t part) {
  return part >= static_cast<size_t>(BudgetPart::idle_launch) &&
         part <= static_cast<size_t>(BudgetPart::idle_after_last);
}
// The part's name on this device. A CPU launches nothing and is not idle outside operators.
BudgetPart budget_part(size_t part, trace::DeviceKind device = trace::DeviceKind::gpu);
// "gemm", ..., "exposed communication" (that class), "idle: launch-bound"
inline std::string_view budget_part_name(size_t part) { return to_string(budget_part(part)); }

using PartTimes = std::array<Nanoseconds, kBudgetParts>;

// Idle time of the GPU inside an instance, and what the host did meanwhile.
struct IdleGap {
  InstanceId instance;
  Nanoseconds start = 0;
  Nanoseconds end = 0;
  Nanoseconds idle = 0;                         // less than its length if other work ran in it
  BudgetPart cause = BudgetPart::unattributed;  // the largest part of it
  std::optional<GpuWorkRow> before = {};        // none at stage edges, like `after`
  std::optional<GpuWorkRow> after = {};
  bool in_graph = false;  // a graph launch that was already running started `after`
  // Only of gaps that are kept.
  std::string work_before = {};  // "copy Device-to-Host", a short kernel name; empty at stage edges
  std::string work_after = {};
  profile::Reason host = {};  // what was open on the host

  [[nodiscard]] Nanoseconds length() const { return end - start; }
  // None outside steps.
  [[nodiscard]] StepId step() const { return after ? after->step : StepId(); }
  // From one step's GPU work to another's.
  [[nodiscard]] bool between_steps() const {
    return before && after && before->step != after->step;
  }
};

// Long gaps at the same place in a stage: between the same two pieces of GPU work, each at least
// half as long as the longest.
struct RepeatedIdleGap {
  IdleGap longest;
  uint64_t count = 0;     // at least 2
  Nanoseconds total = 0;  // idle time in all these gaps
};

struct StageBudget {
  uint32_t stage = 0;
  uint64_t instances = 0;  // without warm-ups
  PartTimes total{};       // over these instances; divided by their number, the stage's mean
  PartTimes
      between_steps{};  // of `total`: idle time from one step's last GPU work to the next's first
  std::array<uint64_t, kBudgetParts> gaps{};  // idle gaps by their largest part
  // Part of idle_queued: long times from a launch's return to the start of its work, when the GPU
  // was busy with earlier work that the capture does not show. Also, the gaps with this main cause.
  Nanoseconds queued_long = 0;
  uint64_t gaps_queued_long = 0;

  // Mean untraced time per instance, ns.
  [[nodiscard]] double not_traced() const {
    const Nanoseconds time = total[static_cast<size_t>(BudgetPart::not_traced)];
    return instances == 0 ? 0 : static_cast<double>(time) / static_cast<double>(instances);
  }
};

// Gaps and slow steps exclude warm-up instances.
struct Budgets {
  std::vector<PartTimes> instances;  // one per instance; the parts of each sum to its wall time
  std::vector<StageBudget> stages;   // one per stage
  std::vector<IdleGap> gaps;  // the longest of each stage, longest first, at most 10 per stage
  std::vector<RepeatedIdleGap>
      repeated_gaps;  // by stage, the largest total first, at most 3 per stage
  std::vector<profile::SlowStep> slow_steps;  // the slowest of each stage, at most 5 per stage
};

// The time of one part over all instances of a stage.
struct PartTotal {
  BudgetPart part = BudgetPart::unattributed;
  Nanoseconds time = 0;
  bool idle = false;
};
// Fills a stage's budget and what follows from it; the stage must have its decode_step_count.
// Returns the untraced time in these totals.
Nanoseconds fill_budget(const std::vector<PartTotal>& totals, uint64_t instances,
                        uint64_t untraced_steps, profile::Stage& stage);

// An instance without GPU work is entirely unattributed: no launch can explain it.
Budgets time_budgets(const trace::Trace& trace, const Stages& stages, const DescribedNames& names,
                     const BudgetBasis& basis);

}  // namespace llmprof::analysis
