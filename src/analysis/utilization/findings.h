#pragma once

#include <string>
#include <vector>

#include "analysis/budget/budget.h"
#include "analysis/counters/stage_counters.h"
#include "analysis/ranking/kernel_shapes.h"
#include "analysis/ranking/kernels.h"
#include "analysis/stages/selection.h"
#include "analysis/utilization/recoverable.h"
#include "analysis/utilization/roofline.h"

namespace llmprof::analysis {

// Something to fix, worth `recoverable` nanoseconds a `unit` at the most.
struct Finding {
  std::string title;
  std::string evidence;  // numbers, with their denominators
  std::string advice;
  std::string stage;
  double recoverable = 0;        // ns a `unit`, mean over the measured ones
  double total_recoverable = 0;  // ns, over all measured instances of the stage
  std::string unit;  // "request", "engine step" under continuous batching; InstanceUnit::name
  std::optional<double> per_token;  // ns
  double share_of_wall = 0;         // of the stage's wall time, 0 to 1
  // The capture does not show what could be gained: both recoverable times are 0, and
  // `share_of_wall` is what it hides. Comes first, since all else is only a part of the truth.
  bool blind = false;
};

// The first that says what could be gained; null where none does.
const Finding* first_gain(const std::vector<Finding>& findings);

// Ranked by the time that they cost in the capture (total_recoverable).
std::vector<Finding> find_findings(const trace::Trace& trace, const Stages& stages,
                                   const Budgets& budgets,
                                   const std::vector<StageRecoverable>& recoverable,
                                   const Utilization& utilization, const KernelRanking& ranking,
                                   const Roofline& roofline, const Selection& selection,
                                   const Counters& counters = {});

}  // namespace llmprof::analysis
