#pragma once

#include <algorithm>
#include <vector>

#include "trace/trace.h"

namespace llmprof {

// Intervals of a few questions, found by the thread and time of each row of a large table. An
// interval without length is a moment.
class IntervalsByThread {
 public:
  explicit IntervalsByThread(size_t threads) : by_thread_(threads) {}

  void add(ThreadId thread, Nanoseconds from, Nanoseconds to, size_t question) {
    if (thread.valid()) by_thread_[thread.index()].push_back({from, to, to, question});
  }
  // Before the first question.
  void order() {
    for (auto& intervals : by_thread_) {
      std::sort(intervals.begin(), intervals.end(),
                [](const Interval& a, const Interval& b) { return a.from < b.from; });
      for (size_t i = 1; i < intervals.size(); ++i) {
        intervals[i].latest_end = std::max(intervals[i].to, intervals[i - 1].latest_end);
      }
    }
  }
  [[nodiscard]] bool any(ThreadId thread) const {
    return thread.valid() && !by_thread_[thread.index()].empty();
  }
  // Calls visit(question) for those that [start, end) touches.
  template <class Visit>
  void each_touched(ThreadId thread, Nanoseconds start, Nanoseconds end, Visit&& visit) const {
    if (!any(thread)) return;
    const auto& intervals = by_thread_[thread.index()];
    auto later = std::partition_point(intervals.begin(), intervals.end(),
                                      [&](const Interval& i) { return i.from < end; });
    while (later != intervals.begin()) {
      --later;
      if (later->latest_end < start) break;
      if (later->to >= start) visit(later->question);
    }
  }

 private:
  struct Interval {
    Nanoseconds from;
    Nanoseconds to;
    Nanoseconds latest_end;  // of this and all in front
    size_t question;
  };
  std::vector<std::vector<Interval>> by_thread_;
};

}  // namespace llmprof
