#pragma once

#include <algorithm>
#include <cstdint>

namespace llmprof::llm {

// Parameters and FLOPs are computed as doubles, since a faulty specification may ask for any size.
// Counts that no model reaches are cut there, where every double still fits an integer.
inline uint64_t whole_count(double count) {
  constexpr double kLargestCount = 1e18;
  return static_cast<uint64_t>(std::min(count, kLargestCount));
}

}  // namespace llmprof::llm
