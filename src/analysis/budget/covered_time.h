#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "trace/tables.h"

namespace llmprof::analysis {

// The number of leading rows, of `count`, for which `comes_first(row)` holds; it holds for no row
// after them. Most answers are `place`, the last answer, or the next row, so a few linear steps
// come first. Then the stride doubles until the answer is enclosed, and binary search finds it.
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

// A union of intervals of time that answers how much of any interval it covers.
class CoveredTime {
 public:
  void reserve(size_t intervals) { intervals_.reserve(intervals); }
  // Must be called in order of start; intervals that overlap or touch become one.
  void add(Nanoseconds start, Nanoseconds end);

  // How much of [from, to) is covered. `place` is where the last answer was found: questions
  // roughly in order of time have a constant cost, whatever the number of intervals.
  [[nodiscard]] Nanoseconds within(Nanoseconds from, Nanoseconds to, size_t& place) const;

  [[nodiscard]] size_t interval_count() const { return intervals_.size(); }

 private:
  // The end follows from the next `covered_before`; captures may have millions of intervals.
  struct Interval {
    Nanoseconds start;
    Nanoseconds covered_before;  // by earlier intervals
  };
  [[nodiscard]] Nanoseconds end_of(size_t row) const;
  // How much is covered before `time`, given the number of intervals that start before it.
  [[nodiscard]] Nanoseconds covered_until(Nanoseconds time, size_t started_before) const;
  // The number of intervals that start before `time`.
  [[nodiscard]] size_t started(Nanoseconds time, size_t place) const;

  std::vector<Interval> intervals_;
  Nanoseconds last_end_ = 0;
};

}  // namespace llmprof::analysis
