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

// Where the layers of one forward pass begin, as positions among its `tokens` (equal kernels, equal
// tokens), and after them where the last one ends. Layers are the repeats of `period`; where the
// pass has more attentions than repeats (layers of two kinds that alternate, a first layer unlike
// the others, layers of varying length) each attention is a layer, if what lies around it is alike.
// Empty where there are none.
std::vector<size_t> layer_cuts(std::span<const uint32_t> tokens,
                               const std::vector<LayerBeat>& beats,
                               const std::optional<LayerPeriod>& period);

// Where the layers of forward passes begin, by what repeats in their kernel names (layer_cuts).
// Passes repeat: each distinct sequence is looked at once.
class PassLayerCuts {
 public:
  PassLayerCuts(const trace::Trace& trace, const DescribedNames& names)
      : trace_(trace), names_(names) {}

  // `kernels` are rows of Trace::kernels. Empty where no layers repeat.
  const std::vector<size_t>& of(std::span<const uint32_t> kernels);

 private:
  const trace::Trace& trace_;
  const DescribedNames& names_;
  std::unordered_map<size_t, std::vector<size_t>> known_;
};

}  // namespace llmprof::analysis
