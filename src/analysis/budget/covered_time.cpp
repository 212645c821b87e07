#include "analysis/budget/covered_time.h"

#include <algorithm>

namespace llmprof::analysis {

void CoveredTime::add(Nanoseconds start, Nanoseconds end) {
  if (end <= start) return;
  if (!intervals_.empty() && start <= last_end_) {
    last_end_ = std::max(last_end_, end);
    return;
  }
  Nanoseconds covered = 0;
  if (!intervals_.empty()) {
    const Interval& last = intervals_.back();
    covered = last.covered_before + last_end_ - last.start;
  }
  intervals_.push_back({start, covered});
  last_end_ = end;
}

Nanoseconds CoveredTime::end_of(size_t row) const {
  if (row + 1 == intervals_.size()) return last_end_;
  const Interval& interval = intervals_[row];
  return interval.start + intervals_[row + 1].covered_before - interval.covered_before;
}

size_t CoveredTime::started(Nanoseconds time, size_t place) const {
  return gallop(place, intervals_.size(), [&](size_t row) { return intervals_[row].start < time; });
}

Nanoseconds CoveredTime::covered_until(Nanoseconds time, size_t started_before) const {
  if (started_before == 0) return 0;
  const Interval& last = intervals_[started_before - 1];
  return last.covered_before + std::min(time, end_of(started_before - 1)) - last.start;
}

Nanoseconds CoveredTime::within(Nanoseconds from, Nanoseconds to, size_t& place) const {
  if (to <= from) return 0;
  place = started(from, place);
  const Nanoseconds skipped = covered_until(from, place);
  // Most questions are about a gap, in which no interval starts.
  if (place < intervals_.size() && intervals_[place].start < to) place = started(to, place);
  return covered_until(to, place) - skipped;
}

}  // namespace llmprof::analysis
