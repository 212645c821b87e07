#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "analysis/detection/kernel_sequence.h"
#include "analysis/detection/repeats.h"
#include "analysis/naming/described_names.h"
#include "trace/trace.h"

namespace llmprof::analysis {

// Start positions of the layers of one forward pass among its `tokens` (equal kernels have equal
// tokens), followed by the end of the last layer. Layers are the repeats of `period`. If the pass
// has more attentions than repeats (two kinds of layers alternate, the first layer differs, layers
// vary in length), each attention is a layer, provided the kernels around them are similar. Empty
// if there are no layers.
std::vector<size_t> layer_cuts(std::span<const uint32_t> tokens,
                               const std::vector<LayerBeat>& beats,
                               const std::optional<LayerPeriod>& period);

// Finds layer starts in forward passes from repeating kernel names (layer_cuts). Passes repeat, so
// each distinct sequence is examined once.
class PassLayerCuts {
 public:
  PassLayerCuts(const trace::Trace& trace, const DescribedNames& names)
      : trace_(trace), names_(names) {}

  // `kernels` are rows of Trace::kernels. Empty if no layers repeat.
  const std::vector<size_t>& of(std::span<const uint32_t> kernels);

 private:
  const trace::Trace& trace_;
  const DescribedNames& names_;
  std::unordered_map<size_t, std::vector<size_t>> known_;
};

}  // namespace llmprof::analysis
