#include "job/packed/packed_numbers.h"

#include <algorithm>
#include <bit>

namespace llmprof::job {

void PackedNumbers::close_block() {
  int64_t least = INT64_MAX;
  int64_t most = INT64_MIN;
  size_t missing = 0;
  for (const int64_t number : open_) {
    if (number == missing_) {
      ++missing;
      continue;
    }
    least = std::min(least, number);
    most = std::max(most, number);
  }
  const bool all_alike = missing == open_.size() || (missing == 0 && least == most);
  if (all_alike) {
    blocks_.push_back({open_.front(), static_cast<uint32_t>(words_.size()), 0, false});
  } else {
    const uint64_t largest = static_cast<uint64_t>(most) - static_cast<uint64_t>(least);
    const bool some_missing = missing > 0;
    // If some are missing, the all-ones difference stands for them and must stay free.
    const bool as_they_are = largest >= UINT64_MAX / 2;
    if (as_they_are) {
      append(kWord, 0, false);
    } else {
      append(static_cast<size_t>(std::bit_width(some_missing ? largest + 1 : largest)), least,
             some_missing);
    }
  }
  open_.clear();
}

void PackedNumbers::append(size_t bits, int64_t least, bool some_missing) {
  const size_t first = words_.size();
  blocks_.push_back(
      {least, static_cast<uint32_t>(first), static_cast<uint8_t>(bits), some_missing});
  words_.resize(first + (kBlock * bits + kWord - 1) / kWord, 0);
  const uint64_t all_ones = ~uint64_t{0} >> (kWord - bits);
  for (size_t i = 0; i < open_.size(); ++i) {
    const bool is_missing = some_missing && open_[i] == missing_;
    const uint64_t difference =
        is_missing ? all_ones : static_cast<uint64_t>(open_[i]) - static_cast<uint64_t>(least);
    const size_t bit = i * bits;
    uint64_t* word = &words_[first + bit / kWord];
    const size_t shift = bit % kWord;
    *word |= difference << shift;
    if (shift + bits > kWord) word[1] |= difference >> (kWord - shift);
  }
}

void PackedNumbers::shrink() {
  blocks_.shrink_to_fit();
  words_.shrink_to_fit();
  open_.shrink_to_fit();
}

}  // namespace llmprof::job
