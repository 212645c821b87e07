#pragma once

#include "analysis/detection/forward_passes.h"

namespace llmprof::analysis {

// What repeats decides which passes there are; what kernels are called, where it shows the same
// passes, tells more exactly where each begins and ends, and stands in where nothing repeats (a
// model of two layers, layers of varying length).
ForwardPasses find_forward_passes(const KernelSequence& sequence);

}  // namespace llmprof::analysis
