#pragma once

#include <span>
#include <vector>

#include "analysis/detection/layer_beats.h"

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
  [[nodiscard]] bool strong_in_gap(size_t gap) const;
};

PassMarkers find_pass_markers(const KernelSequence& sequence, std::span<const LayerBeat> beats);

}  // namespace llmprof::analysis
