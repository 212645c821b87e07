#include "analysis/detection/likeness.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace llmprof::analysis {
namespace {

using Flags = std::array<uint8_t, Likeness::kBits>;

// A byte of 0 or 1 each becomes a bit. Eight at a time: the product moves each to the highest byte.
uint64_t packed(const Flags& flags) {
  constexpr size_t kBytes = sizeof(uint64_t);
  constexpr uint64_t kGather = 0x0102040810204080ULL;
  constexpr unsigned kHighestByte = 56;
  uint64_t word = 0;
  for (size_t i = 0; i < flags.size(); i += kBytes) {
    uint64_t eight = 0;
    std::memcpy(&eight, flags.data() + i, kBytes);
    if constexpr (std::endian::native == std::endian::big) eight = __builtin_bswap64(eight);
    word |= (eight * kGather >> kHighestByte) << i;
  }
  return word;
}

}  // namespace

Likeness::Likeness(std::span<const uint32_t> tokens, uint32_t distance)
    : size_(tokens.size()), distance_(distance), words_(tokens.size() / kBits + 2, 0) {
  for (size_t first = distance / kBits * kBits; first < tokens.size(); first += kBits) {
    Flags flags{};
    if (first >= distance && first + kBits <= tokens.size()) {
      const uint32_t* here = tokens.data() + first;
      const uint32_t* before = here - distance;
      for (size_t i = 0; i < kBits; ++i) flags[i] = here[i] == before[i] ? 1 : 0;
    } else {
      for (size_t i = 0; i < kBits && first + i < tokens.size(); ++i) {
        const size_t row = first + i;
        flags[i] = row >= distance && tokens[row] == tokens[row - distance] ? 1 : 0;
      }
    }
    words_[first / kBits] = packed(flags);
  }
}

size_t Likeness::count(size_t begin, size_t end) const {
  if (begin >= end) return 0;
  const auto ones = [](uint64_t word) { return static_cast<size_t>(std::popcount(word)); };
  const size_t first = begin / kBits;
  const size_t last = end / kBits;
  const uint64_t behind_begin = ~uint64_t{0} << begin % kBits;
  const uint64_t before_end = ~(~uint64_t{0} << end % kBits);
  if (first == last) return ones(words_[first] & behind_begin & before_end);
  size_t found = ones(words_[first] & behind_begin) + ones(words_[last] & before_end);
  for (size_t i = first + 1; i < last; ++i) found += ones(words_[i]);
  return found;
}

}  // namespace llmprof::analysis
