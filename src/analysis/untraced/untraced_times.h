#pragma once

#include <array>
#include <optional>
#include <vector>

#include "analysis/budget/budget.h"
#include "analysis/stages/stages.h"
#include "profile/untraced.h"

namespace llmprof::analysis {

using profile::NoUntracedTime;
using profile::UntracedSource;

// One stage of the program without profiling. Mean times in ns per instance.
struct StageUntraced {
  std::optional<NoUntracedTime> why_not = NoUntracedTime::no_other_time;  // none: it is known
  UntracedSource source = UntracedSource::workload_clock;
  double wall = 0;
  std::optional<double> per_step;  // decode only
  double added = 0;                // by tracing: traced minus untraced wall time
  uint64_t passes = 0;             // timed passes; 0: from the workload's clock
  uint64_t instances = 0;          // timed instances; 0: unknown
  uint64_t all_passes = 0;         // in this run, recorded or found; 0: only the recorded ones
  // Traced busy parts, and idle parts scaled to the rest: they sum to the wall time.
  std::array<double, kBudgetParts> parts{};
  double idle = 0;
  // If the GPU's traced busy time exceeds the entire untraced stage, busy parts are scaled by this.
  double busy_scale = 1;
  double idle_scale = 1;  // untraced over traced idle time

  [[nodiscard]] bool known() const { return !why_not; }
};

struct UntracedStages {
  std::vector<StageUntraced> stages;  // one per stage
  // Budgets with the untraced program's idle time where known, used to rank savings. Gaps are
  // scaled with them.
  Budgets budgets;
};

// `control`: the control run, or null.
UntracedStages find_untraced_times(const trace::Trace& trace, const Stages& stages,
                                   const Budgets& budgets, const trace::Trace* control,
                                   bool selected);

}  // namespace llmprof::analysis
