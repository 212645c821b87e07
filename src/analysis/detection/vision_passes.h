#pragma once

#include <span>
#include <vector>

#include "analysis/detection/forward_passes.h"
#include "analysis/detection/layer_beats.h"

namespace llmprof::analysis {

// Attention layers that are in no forward pass of the language model and that a convolution (the
// patch embedding) begins. They end with the last matrix product (the projector) and what was asked
// for right after it. `passes` are in order; what belongs to them is never taken.
std::vector<VisionPass> find_vision_passes(const KernelSequence& sequence,
                                           std::span<const LayerBeat> beats,
                                           std::span<const ForwardPass> passes);

}  // namespace llmprof::analysis
