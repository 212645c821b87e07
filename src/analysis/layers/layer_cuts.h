#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/detection/layer_beats.h"
#include "analysis/detection/repeats.h"

namespace llmprof::analysis {

// Where the layers of one forward pass begin, as positions among its `tokens` (equal kernels, equal
// tokens), and after them where the last one ends. Layers are the repeats of `period`; where the
// pass has more attentions than repeats (layers of two kinds that alternate, a first layer unlike
// the others, layers of varying length) each attention is a layer, if what lies around it is alike.
// Empty where there are none.
std::vector<size_t> layer_cuts(std::span<const uint32_t> tokens,
                               const std::vector<LayerBeat>& beats,
                               const std::optional<LayerPeriod>& period);

}  // namespace llmprof::analysis
