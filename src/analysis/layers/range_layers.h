#pragma once

#include <vector>

#include "analysis/layers/stage_layers.h"
#include "analysis/stages/meaningful_ranges.h"

namespace llmprof::analysis {

// Of each stage: kernels by the layer and part that were open when they were launched. A graph's
// kernel is in the layer that was open when its node was captured, where the capture knows; its
// stage is the replay's all the same.
std::vector<StageLayers> layers_of_ranges(const trace::Trace& trace, const Stages& stages,
                                          const MeaningfulRanges& ranges, const KernelTimes& times);

}  // namespace llmprof::analysis
