#pragma once

#include <vector>

#include "analysis/budget/budget.h"
#include "analysis/budget/idle_causes.h"

namespace llmprof::analysis {

// A step is slow that takes clearly longer than the median step alike: of the same stage and kind,
// and of the same batch and tokens where they are known.
std::vector<SlowStep> find_slow_steps(const trace::Trace& trace, const Stages& stages,
                                      const DescribedNames& names, const CallsByThread& calls,
                                      IdleCauses& causes);

}  // namespace llmprof::analysis
