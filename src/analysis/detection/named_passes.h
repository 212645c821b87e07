#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "analysis/detection/forward_passes.h"

namespace llmprof::analysis {

// A kernel between two forward passes, outside their layers: an embedding or another gather of
// rows, or the selection of the next token.
struct PassMarker {
  uint32_t position = 0;
  uint32_t gap = 0;      // gap i is before beat i, the last gap after all beats
  bool selects = false;  // the next token; otherwise it gathers rows
  bool strong = false;   // recurs once per pass or request; otherwise it occurs once
};

struct PassMarkers {
  std::vector<PassMarker> markers;  // by position
  std::vector<uint32_t> layers;     // numbers of layers from one strong marker to the next

  [[nodiscard]] std::span<const PassMarker> in_gap(size_t gap) const {
    return std::ranges::equal_range(markers, gap, {}, &PassMarker::gap);
  }
};

PassMarkers find_pass_markers(const KernelSequence& sequence, std::span<const LayerBeat> beats);

// The only forward pass of a capture, followed by no other: from an embedding, through evenly
// spaced layers, to the choice of a token. It takes a prompt: after the layers, only the rows that
// get a token remain. None if any of this is missing.
std::optional<ForwardPass> find_lone_prefill(const KernelSequence& sequence,
                                             std::span<const LayerBeat> beats);

// Attention layers outside the language model's forward passes that start with a convolution (the
// patch embedding). They end with the last GEMM (the projector) and the work launched right after
// it. `passes` are in order; their kernels are never taken.
std::vector<VisionPass> find_vision_passes(const KernelSequence& sequence,
                                           std::span<const LayerBeat> beats,
                                           std::span<const ForwardPass> passes);

}  // namespace llmprof::analysis
