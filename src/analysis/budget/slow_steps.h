#pragma once

#include <vector>

#include "analysis/budget/budget.h"
#include "analysis/budget/idle_causes.h"

namespace llmprof::analysis {

struct StepOutlier {
  StepId step;
  Nanoseconds above_median = 0;
  // The median step to compare it with: of as many kernels where there are such.
  StepId reference;
};

// At most `most` per stage, by stage, the slowest first; of instances that are not warm-up.
std::vector<StepOutlier> step_outliers(const Stages& stages, size_t most);

// Which steps these are, with its thresholds.
profile::Reasons slow_step_rule();

// A step is slow that takes clearly longer than the median step alike: of the same stage and kind,
// and of the same batch and tokens where they are known.
std::vector<SlowStep> find_slow_steps(const trace::Trace& trace, const Stages& stages,
                                      const DescribedNames& names, const CallsByThread& calls,
                                      IdleCauses& causes);

}  // namespace llmprof::analysis
