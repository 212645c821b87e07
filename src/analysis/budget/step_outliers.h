#pragma once

#include <vector>

#include "analysis/stages/stages.h"
#include "profile/reasons.h"

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

}  // namespace llmprof::analysis
