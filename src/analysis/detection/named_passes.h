#pragma once

#include <span>
#include <vector>

#include "analysis/detection/forward_passes.h"

namespace llmprof::analysis {

// A kernel that stands between two forward passes, not in their layers: an embedding or another
// gather of rows, or the selection of the next token.
struct PassMarker {
  uint32_t position = 0;
  bool selects = false;  // the next token; otherwise it gathers rows
  bool strong = false;   // comes back once in every pass or request; otherwise it occurs once
};

// Gap i lies before beat i, the last one after all beats.
struct PassMarkers {
  std::vector<PassMarker> markers;     // by position
  std::vector<uint32_t> first_of_gap;  // rows of `markers`; one more than there are gaps
  std::vector<uint32_t> layers;        // numbers of layers from one strong marker to its next

  [[nodiscard]] std::span<const PassMarker> in_gap(size_t gap) const {
    return std::span(markers).subspan(first_of_gap[gap], first_of_gap[gap + 1] - first_of_gap[gap]);
  }
};

PassMarkers find_pass_markers(const KernelSequence& sequence, std::span<const LayerBeat> beats);

// The only forward pass of a capture, which nothing recurs after: from an embedding, through layers
// that are equally far apart, to the choice of a token. It takes a prompt: behind the layers, only
// the rows are left that get a token. None where any of that is missing.
std::optional<ForwardPass> find_lone_prefill(const KernelSequence& sequence,
                                             std::span<const LayerBeat> beats);

// Attention layers that are in no forward pass of the language model and that a convolution (the
// patch embedding) begins. They end with the last matrix product (the projector) and what was asked
// for right after it. `passes` are in order; what belongs to them is never taken.
std::vector<VisionPass> find_vision_passes(const KernelSequence& sequence,
                                           std::span<const LayerBeat> beats,
                                           std::span<const ForwardPass> passes);

}  // namespace llmprof::analysis
