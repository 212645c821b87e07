#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace llmprof::analysis {

// A stretch of a sequence in which `period` tokens repeat `count` times: positions [begin, end). Up
// to a third of a repeat may differ from the previous one (another kernel variant, an extra copy).
struct RepeatedStretch {
  uint32_t begin = 0;
  uint32_t end = 0;
  uint32_t period = 0;
  uint32_t count = 0;    // complete repeats; the last may lack up to a quarter
  double agreement = 0;  // 0 to 1: share of tokens equal to the token one period earlier

  [[nodiscard]] uint32_t length() const { return end - begin; }
};

// All stretches of at least three repeats, for every frequent period: layers within a pass, passes
// within a loop, requests. By `begin`, longest first. Time is linear in the number of tokens.
std::vector<RepeatedStretch> find_repeats(std::span<const uint32_t> tokens);

// The layers of one forward pass, as whole repeats; `tokens` stand for its kernels in order. None
// if less than half of the pass repeats.
std::optional<RepeatedStretch> find_layer_period(std::span<const uint32_t> tokens);

// Number of layers in one repeat. Alternating layers (two kinds, or an extra kernel in every
// fourth) repeat only together: then most of their kernels occur several times in the repeat,
// evenly spaced.
uint32_t layers_in_repeat(std::span<const uint32_t> repeat);

}  // namespace llmprof::analysis
