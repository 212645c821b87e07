#include "analysis/budget/covered_time.h"

#include <algorithm>

#include "analysis/budget/gallop.h"

namespace llmprof {

void CoveredTime::add(Nanoseconds start, Nanoseconds end) {
  if (end <= start) return;
  if (intervals_.empty()) {
    intervals_.push_back({start, end, 0});
    return;
  }
  Interval& last = intervals_.back();
  if (start <= last.end) {
    last.end = std::max(last.end, end);
  } else {
    intervals_.push_back({start, end, last.covered_before + last.end - last.start});
  }
}

size_t CoveredTime::started(Nanoseconds time, size_t place) const {
  return gallop(place, intervals_.size(), [&](size_t row) { return intervals_[row].start < time; });
}

Nanoseconds CoveredTime::before(Nanoseconds time, size_t& place) const {
  place = started(time, place);
  if (place == 0) return 0;
  const Interval& last = intervals_[place - 1];
  return last.covered_before + std::min(time, last.end) - last.start;
}

Nanoseconds CoveredTime::within(Nanoseconds from, Nanoseconds to, size_t& place) const {
  if (to <= from) return 0;
  const Nanoseconds skipped = before(from, place);
  return before(to, place) - skipped;
}

}  // namespace llmprof
