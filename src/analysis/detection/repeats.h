#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace llmprof::analysis {

// A stretch of a sequence in which `period` tokens repeat `count` times: positions [begin, end). Up
// to a third of a repeat may differ from the one before (another kernel variant, an extra copy).
struct RepeatedStretch {
  uint32_t begin = 0;
  uint32_t end = 0;
  uint32_t period = 0;
  uint32_t count = 0;    // whole repeats; the last may lack up to a quarter of one
  double agreement = 0;  // 0 to 1: share of the tokens that are the same as one period before

  [[nodiscard]] uint32_t length() const { return end - begin; }
};

// All stretches of at least three repeats, of every period that is frequent in the sequence: layers
// within a pass, passes within a loop, requests. By begin, longest first. Time grows linearly with
// the tokens.
std::vector<RepeatedStretch> find_repeats(std::span<const uint32_t> tokens);

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

// How many layers the kernels of one repeat are. Layers that take turns (two kinds, or a kernel
// more in every fourth) repeat only together: most of their kernels then occur several times in the
// repeat, at even distances.
uint32_t layers_in_repeat(std::span<const uint32_t> repeat);

}  // namespace llmprof::analysis
