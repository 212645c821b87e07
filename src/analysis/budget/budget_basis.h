#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "trace/trace.h"

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

// Time covered by intervals, which must be added in order of their starts.
class CoveredSum {
 public:
  void add(Nanoseconds start, Nanoseconds end) {
    if (end <= until_) return;
    sum_ += end - std::max(start, until_);
    until_ = end;
  }
  // Time before this was counted elsewhere.
  void skip_to(Nanoseconds time) { until_ = std::max(until_, time); }
  [[nodiscard]] Nanoseconds sum() const { return sum_; }
  [[nodiscard]] Nanoseconds until() const { return until_; }

 private:
  Nanoseconds sum_ = 0;
  Nanoseconds until_ = INT64_MIN;
};

// A union of intervals of time that answers how much of any interval it covers.
class CoveredTime {
 public:
  void reserve(size_t intervals) { intervals_.reserve(intervals); }
  // Must be called in order of start; intervals that overlap or touch become one.
  void add(Nanoseconds start, Nanoseconds end);

  // How much of [from, to) is covered. `place` is where the last answer was found: questions
  // roughly in order of time have a constant cost, whatever the number of intervals.
  [[nodiscard]] Nanoseconds within(Nanoseconds from, Nanoseconds to, size_t& place) const;

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

// Each thread's CUDA calls in order of start; a runtime call precedes the driver calls inside it.
class CallsByThread {
 public:
  explicit CallsByThread(const trace::Trace& trace);

  // Rows of Trace::launches.
  [[nodiscard]] std::span<const uint32_t> of(trace::ThreadId thread) const {
    return std::span(rows_).subspan(first_[thread.index()],
                                    first_[thread.index() + 1] - first_[thread.index()]);
  }

  // Calls visit(row) for each call that overlaps [from, to), in order. `place` is where the last
  // answer for this thread was found: questions roughly in order of time are cheap.
  template <class Visit>
  void each(const trace::Trace& trace, trace::ThreadId thread, Nanoseconds from, Nanoseconds to,
            size_t& place, Visit&& visit) const {
    each_entry(trace, thread, from, to, place, [&](size_t entry) { visit(rows_[entry]); });
  }

  // The same for calls that are not inside another call.
  template <class Visit>
  void each_outermost(const trace::Trace& trace, trace::ThreadId thread, Nanoseconds from,
                      Nanoseconds to, Visit&& visit) const {
    size_t place = 0;
    each_entry(trace, thread, from, to, place, [&](size_t entry) {
      if (back_[entry] == 0) visit(rows_[entry]);
    });
  }

 private:
  template <class Visit>
  void each_entry(const trace::Trace& trace, trace::ThreadId thread, Nanoseconds from,
                  Nanoseconds to, size_t& place, const Visit& visit) const {
    const std::vector<Nanoseconds>& start = trace.launches.start;
    const size_t base = first_[thread.index()];
    const size_t end = first_[thread.index() + 1];
    place = gallop(place, end - base, [&](size_t i) { return start[rows_[base + i]] <= from; });
    for (size_t i = place == 0 ? base : outermost(base + place - 1); i < end; ++i) {
      if (start[rows_[i]] >= to) break;
      visit(i);
    }
  }

  // For an entry of rows_, the first of the calls that overlap it and each other.
  [[nodiscard]] size_t outermost(size_t entry) const {
    while (back_[entry] == kFarthestBack) entry -= kFarthestBack;
    return entry - back_[entry];
  }

  static constexpr uint8_t kFarthestBack = UINT8_MAX;
  std::vector<uint32_t> first_;  // by thread: where its rows start
  std::vector<uint32_t> rows_;   // by thread, then start
  // How many entries back the outermost call is, or the largest distance that fits. One byte each:
  // there are millions, and most calls contain few others.
  std::vector<uint8_t> back_;
};

// The inputs of budgets that do not depend on stages.
struct BudgetBasis {
  explicit BudgetBasis(const trace::Trace& trace);

  std::vector<CoveredTime> busy;  // one per device
  CallsByThread calls;
};

}  // namespace llmprof::analysis
