#pragma once

#include <string>
#include <vector>

#include "analysis/budget/budget.h"
#include "analysis/layers/kernel_shapes.h"
#include "analysis/ranking/kernels.h"
#include "analysis/utilization/recoverable.h"
#include "analysis/utilization/roofline.h"

namespace llmprof {

// Something to fix, worth `recoverable` nanoseconds a request at the most.
struct Finding {
  std::string title;
  std::string evidence;  // numbers, with their denominators
  std::string advice;
  std::string stage;
  double recoverable = 0;           // ns a request
  std::optional<double> per_token;  // ns
  double share_of_wall = 0;         // of the stage's wall time, 0 to 1
};

// Ranked by recoverable time.
std::vector<Finding> find_findings(const Trace& trace, const Stages& stages, const Budgets& budgets,
                                   const std::vector<StageRecoverable>& recoverable,
                                   const Utilization& utilization, const KernelRanking& ranking,
                                   const Roofline& roofline);

}  // namespace llmprof
