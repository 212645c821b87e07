#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace llmprof::analysis {

// Which tokens of a sequence are the same as the one `distance` before: one bit each, so that 64
// are counted at once.
class Likeness {
 public:
  Likeness() = default;
  Likeness(std::span<const uint32_t> tokens, uint32_t distance);

  // False of the first `distance` tokens.
  [[nodiscard]] bool at(size_t row) const { return (words_[row / kBits] >> row % kBits & 1U) != 0; }
  // Of the tokens from `row` on, the first in the lowest bit; behind the last one 0.
  [[nodiscard]] uint64_t from(size_t row) const {
    const size_t shift = row % kBits;
    const uint64_t low = words_[row / kBits] >> shift;
    return shift == 0 ? low : low | words_[row / kBits + 1] << (kBits - shift);
  }
  // Of [begin, end).
  [[nodiscard]] size_t count(size_t begin, size_t end) const;

  static constexpr size_t kBits = 64;

 private:
  std::vector<uint64_t> words_;  // one more than the tokens need
};

}  // namespace llmprof::analysis
