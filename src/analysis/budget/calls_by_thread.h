#pragma once

#include <span>
#include <vector>

#include "analysis/budget/covered_time.h"
#include "trace/trace.h"

namespace llmprof::analysis {

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

}  // namespace llmprof::analysis
