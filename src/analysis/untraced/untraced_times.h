#pragma once

#include <array>
#include <optional>
#include <vector>

#include "analysis/budget/budget.h"
#include "analysis/stages/stages.h"
#include "profile/unwatched.h"

namespace llmprof::analysis {

using profile::NotUnwatched;
using profile::UnwatchedSource;

// One stage of the program without profiling. Times in ns per instance, mean.
struct StageUnwatched {
  std::optional<NotUnwatched> why_not = NotUnwatched::no_other_time;  // none: it is known
  UnwatchedSource source = UnwatchedSource::workload_clock;
  double wall = 0;
  std::optional<double> per_step;  // of decode
  double added = 0;                // by tracing: traced wall time less this one
  uint64_t passes = 0;             // that were timed; 0: the workload's clock
  uint64_t instances = 0;          // likewise; 0: not known
  uint64_t all_passes = 0;         // of this run, recorded or found; 0: as recorded
  // Busy parts as traced, idle ones scaled to what is left: sum to the wall time.
  std::array<double, kBudgetParts> parts{};
  double idle = 0;
  // The GPU was busy for longer in the traced run than the whole took without: busy parts were
  // scaled by this.
  double busy_scale = 1;
  double idle_scale = 1;  // idle time over the traced one's

  [[nodiscard]] bool known() const { return !why_not; }
};

struct Unwatched {
  std::vector<StageUnwatched> stages;  // one per stage
  // The budgets with the idle time of the unwatched program where that is known: what savings are
  // ranked on. Gaps are scaled with them.
  Budgets budgets;
};

// `control`: the control run, or null.
Unwatched find_unwatched(const trace::Trace& trace, const Stages& stages, const Budgets& budgets,
                         const trace::Trace* control, bool selected);

}  // namespace llmprof::analysis
