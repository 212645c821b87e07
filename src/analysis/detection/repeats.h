#pragma once

#include <cstdint>
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

}  // namespace llmprof::analysis
