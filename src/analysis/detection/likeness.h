#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

namespace llmprof::analysis {

// Which tokens of a sequence are the same as the one `distance` before: one bit each, so that 64
// are counted at once.
class Likeness {
 public:
  static constexpr size_t kBits = 64;

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
  [[nodiscard]] double share(size_t begin, size_t end) const {
    return static_cast<double>(count(begin, end)) / static_cast<double>(end - begin);
  }

  // Calls `visit(begin, end, length)` for the stretches in which every window of one distance has
  // at least `needed` such tokens, of `length` tokens, their edges drawn in to what is alike.
  template <class Visit>
  void each_stretch(size_t needed, const Visit& visit) const {
    const size_t whole = 2 * distance_;  // the first window's end
    if (size_ < whole) return;
    const auto settle = [&](size_t begin, size_t end) {
      const size_t length = end - begin;
      while (begin < end && !at(begin)) ++begin;
      while (end > begin && !at(end - 1)) --end;
      visit(begin, end, length);
    };
    size_t like = count(distance_, whole);
    bool inside = like >= needed;
    size_t begin = distance_;
    for (size_t row = whole; row < size_; row += kBits) {
      const uint64_t come = from(row);
      const uint64_t go = from(row - distance_);
      const auto more = static_cast<size_t>(std::popcount(come & ~go));
      const auto fewer = static_cast<size_t>(std::popcount(go & ~come));
      // Mostly no window of these can change what holds.
      if (inside ? like >= needed + fewer : like + more < needed) {
        like = like + more - fewer;
        continue;
      }
      for (size_t i = row; i < size_ && i < row + kBits; ++i) {
        like = like + (come >> (i - row) & 1U) - (go >> (i - row) & 1U);
        const bool good = like >= needed;
        if (good && !inside) begin = i + 1 - distance_;
        if (!good && inside) settle(begin, i);
        inside = good;
      }
    }
    if (inside) settle(begin, size_);
  }

 private:
  size_t size_;
  size_t distance_;
  std::vector<uint64_t> words_;  // one more than the tokens need
};

}  // namespace llmprof::analysis
