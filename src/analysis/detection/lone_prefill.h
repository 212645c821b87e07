#pragma once

#include <optional>
#include <span>

#include "analysis/detection/forward_passes.h"
#include "analysis/detection/layer_beats.h"

namespace llmprof::analysis {

// The only forward pass of a capture, which nothing recurs after: from an embedding, through layers
// that are equally far apart, to the choice of a token. It takes a prompt: behind the layers, only
// the rows are left that get a token. None where any of that is missing.
std::optional<ForwardPass> find_lone_prefill(const KernelSequence& sequence,
                                             std::span<const LayerBeat> beats);

}  // namespace llmprof::analysis
