#pragma once

#include <span>
#include <vector>

#include "analysis/detection/forward_passes.h"

namespace llmprof::analysis {

// How many times as much work each pass is as the smallest of its model, without knowing what any
// kernel does: by the threads of the kernels that both run, or, where they share hardly any, by
// kernel time. 0 for a hidden pass.
std::vector<double> relative_sizes(const KernelSequence& sequence,
                                   std::span<const ForwardPass> passes);

}  // namespace llmprof::analysis
