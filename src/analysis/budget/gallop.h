#pragma once

#include <algorithm>
#include <cstddef>

namespace llmprof::analysis {

// How many of `count` rows come first, where `comes_first(row)` holds for some rows and for none
// after them. Most questions are about the row of the last answer, `place`, or the next: a few
// plain steps come first. Then it doubles its stride away from there until the answer is enclosed,
// then halves.
template <class ComesFirst>
size_t gallop(size_t place, size_t count, const ComesFirst& comes_first) {
  constexpr size_t kPlainSteps = 3;
  size_t low = std::min(place, count);
  if (low == 0 || comes_first(low - 1)) {
    for (const size_t near = std::min(low + kPlainSteps, count); low < near; ++low) {
      if (!comes_first(low)) return low;
    }
  }
  size_t high = low;
  size_t stride = 1;
  if (low > 0 && !comes_first(low - 1)) {
    while (low > 0 && !comes_first(low - 1)) {
      high = low - 1;
      low -= std::min(stride, low);
      stride *= 2;
    }
  } else {
    while (high < count && comes_first(high)) {
      low = high + 1;
      high += std::min(stride, count - high);
      stride *= 2;
    }
  }
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (comes_first(middle)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

}  // namespace llmprof::analysis
