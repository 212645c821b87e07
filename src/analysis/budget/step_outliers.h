#pragma once

#include <vector>

#include "analysis/stages/stages.h"

namespace llmprof::analysis {

struct StepOutlier {
  StepId step;
  Nanoseconds above_median = 0;
  // The median step to compare it with: of as many kernels where there are such.
  StepId reference;
};

// At most `most` per stage, by stage, the slowest first; of instances that are not warm-up.
std::vector<StepOutlier> step_outliers(const Stages& stages, size_t most);

}  // namespace llmprof::analysis
