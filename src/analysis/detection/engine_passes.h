#pragma once

#include "analysis/detection/forward_passes.h"
#include "analysis/stages/meaningful_ranges.h"

namespace llmprof::analysis {

// Passes as an engine's ranges around the parts of each tell them (vLLM's "gpu_model_runner:
// preprocess", "forward", "sample"): what is launched from one begin to the next. None where there
// are no such ranges, where their kernels overlap, or where no attention shows the layers.
ForwardPasses find_engine_passes(const KernelSequence& sequence, const MeaningfulRanges& ranges);

}  // namespace llmprof::analysis
