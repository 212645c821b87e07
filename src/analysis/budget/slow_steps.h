#pragma once

#include <vector>

#include "analysis/budget/budget.h"
#include "analysis/budget/idle_causes.h"

namespace llmprof::analysis {

struct StepOutlier {
  StepId step;
  Nanoseconds above_median = 0;
  // The median step to compare it with; with as many kernels if possible.
  StepId reference;
};

// At most `most` per stage, by stage, slowest first, without warm-up instances.
std::vector<StepOutlier> step_outliers(const Stages& stages, size_t most);

// The rule that finds these steps, with its thresholds.
profile::Reasons slow_step_rule();

// A step is slow if it takes clearly longer than the median of comparable steps: the same stage and
// kind, and the same batch and tokens if they are known. It has at most three reasons, longest
// first. If they do not explain everything, one more makes all sum to the time above the median:
// positive if time is unexplained, negative if the rest was shorter. It is omitted if it is below
// 1 % or if there are no other reasons.
std::vector<profile::SlowStep> find_slow_steps(const trace::Trace& trace, const Stages& stages,
                                               const DescribedNames& names,
                                               const CallsByThread& calls, IdleCauses& causes);

}  // namespace llmprof::analysis
