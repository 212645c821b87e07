#include "analysis/budget/covered_time.h"

#include <algorithm>

namespace llmprof {
namespace {

constexpr size_t kPlainSteps = 3;

}  // namespace

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

// Most questions are about the interval of the last one or the next: a few plain steps come first.
// Then it doubles its stride away from `place` until the answer is enclosed, then halves.
size_t CoveredTime::started(Nanoseconds time, size_t place) const {
  const size_t count = intervals_.size();
  const auto starts_before = [&](size_t row) { return intervals_[row].start < time; };
  size_t low = std::min(place, count);
  if (low == 0 || starts_before(low - 1)) {
    for (const size_t near = std::min(low + kPlainSteps, count); low < near; ++low) {
      if (!starts_before(low)) return low;
    }
  }
  size_t high = low;
  size_t stride = 1;
  if (low > 0 && !starts_before(low - 1)) {
    while (low > 0 && !starts_before(low - 1)) {
      high = low - 1;
      low -= std::min(stride, low);
      stride *= 2;
    }
  } else {
    while (high < count && starts_before(high)) {
      low = high + 1;
      high += std::min(stride, count - high);
      stride *= 2;
    }
  }
  const auto first = intervals_.begin() + static_cast<std::ptrdiff_t>(low);
  const auto last = intervals_.begin() + static_cast<std::ptrdiff_t>(high);
  const auto found =
      std::partition_point(first, last, [&](const Interval& i) { return i.start < time; });
  return static_cast<size_t>(found - intervals_.begin());
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

CoveredTime CoveredTime::outside(const CoveredTime& other) const {
  CoveredTime rest;
  rest.reserve(intervals_.size());
  size_t place = 0;
  for (const Interval& interval : intervals_) {
    Nanoseconds from = interval.start;
    place = other.started(from, place);
    const bool reached_into = place > 0 && other.intervals_[place - 1].end > from;
    if (reached_into) from = other.intervals_[place - 1].end;
    for (; place < other.intervals_.size() && other.intervals_[place].start < interval.end;
         ++place) {
      rest.add(from, other.intervals_[place].start);
      from = other.intervals_[place].end;
    }
    rest.add(from, interval.end);
  }
  return rest;
}

}  // namespace llmprof
