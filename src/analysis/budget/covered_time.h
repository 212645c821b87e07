#pragma once

#include <cstddef>
#include <vector>

#include "trace/tables.h"

namespace llmprof::analysis {

// A union of intervals of time that answers how much of any interval it covers.
class CoveredTime {
 public:
  void reserve(size_t intervals) { intervals_.reserve(intervals); }
  // In order of their starts; what overlaps or touches becomes one.
  void add(Nanoseconds start, Nanoseconds end);

  // How much of [from, to) is covered. `place` is where the last answer was found: questions in
  // about the order of time cost about the same each, whatever the number of intervals.
  [[nodiscard]] Nanoseconds within(Nanoseconds from, Nanoseconds to, size_t& place) const;

  [[nodiscard]] size_t interval_count() const { return intervals_.size(); }

 private:
  // Its end follows from what the next one has in front: a capture may have millions of these.
  struct Interval {
    Nanoseconds start;
    Nanoseconds covered_before;  // by the intervals in front
  };
  [[nodiscard]] Nanoseconds end_of(size_t row) const;
  // How much is covered before `time`, before which so many intervals start.
  [[nodiscard]] Nanoseconds covered_until(Nanoseconds time, size_t started_before) const;
  // The number of intervals that start before `time`.
  [[nodiscard]] size_t started(Nanoseconds time, size_t place) const;

  std::vector<Interval> intervals_;
  Nanoseconds last_end_ = 0;
};

}  // namespace llmprof::analysis
