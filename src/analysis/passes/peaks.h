#pragma once

#include "analysis/mfu/utilization.h"
#include "analysis/passes/prepare.h"

namespace llmprof::analysis {

// Finds the peaks of what the stages ran on, and how much of them was used.
Utilization measure_utilization(const Prepared& prepared, const Stages& stages);

}  // namespace llmprof::analysis
