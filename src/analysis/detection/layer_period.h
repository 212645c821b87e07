#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace llmprof::analysis {

// Layers in a forward pass: `count` repeats of `period` tokens, the first at `first`. Repeats may
// differ a little (another GEMM variant, an extra copy); `agreement` is the share of tokens that
// are the same as one repeat before.
struct LayerPeriod {
  size_t first = 0;
  size_t period = 0;
  size_t count = 0;
  double agreement = 0;  // 0 to 1
};

// `tokens` stand for the kernels of one forward pass in order (equal kernels, equal tokens). None
// where less than half of the pass repeats.
std::optional<LayerPeriod> find_layer_period(std::span<const uint32_t> tokens);

}  // namespace llmprof::analysis
