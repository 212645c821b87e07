#pragma once

#include "analysis/mfu/utilization.h"

namespace llmprof::analysis {

// Where a figure of any stage is above its peak, takes back all figures and floors and says in each
// stage's `why_not` which one it was and which inputs to check, the likeliest to be wrong first.
void refuse_impossible(const Stages& stages, const llm::ModelSpec& model, const DeviceAsked& device,
                       Utilization& use);

// Peaks measured on a CPU are themselves measurements, and its caches are faster than its memory:
// figures a little above 1 stand with a note, others are taken back alone, with the reason.
void refuse_above_measured(const Stages& stages, Utilization& use);

}  // namespace llmprof::analysis
