#include "analysis/budget/open_at.h"

#include <algorithm>

namespace llmprof::analysis {
namespace {

// Moments found by the thread and time of each row of a large table.
class MomentsByThread {
 public:
  MomentsByThread(size_t threads, const std::vector<HostMoment>& moments)
      : moments_(moments), by_thread_(threads) {
    for (uint32_t i = 0; i < moments.size(); ++i) {
      if (moments[i].thread.valid()) by_thread_[moments[i].thread.index()].push_back(i);
    }
    for (auto& rows : by_thread_) {
      std::sort(rows.begin(), rows.end(),
                [&](uint32_t a, uint32_t b) { return moments[a].time < moments[b].time; });
    }
  }
  // Calls visit(moment) for those in [start, end).
  template <class Visit>
  void each_in(trace::ThreadId thread, Nanoseconds start, Nanoseconds end, Visit&& visit) const {
    if (!thread.valid() || by_thread_[thread.index()].empty()) return;
    const auto& rows = by_thread_[thread.index()];
    auto row = std::partition_point(rows.begin(), rows.end(),
                                    [&](uint32_t i) { return moments_[i].time < start; });
    for (; row != rows.end() && moments_[*row].time < end; ++row) visit(*row);
  }

 private:
  const std::vector<HostMoment>& moments_;
  std::vector<std::vector<uint32_t>> by_thread_;  // in order of time
};

// Keeps the row that started last among those open, the shorter of two that started together.
class Innermost {
 public:
  explicit Innermost(size_t moments) : best_(moments) {}
  void offer(size_t moment, Nanoseconds start, Nanoseconds end, trace::StringId name) {
    Open& best = best_[moment];
    const bool inside = start > best.start || (start == best.start && end <= best.end);
    if (!best.name.valid() || inside) best = {start, end, name};
  }
  [[nodiscard]] trace::StringId name(size_t moment) const { return best_[moment].name; }

 private:
  struct Open {
    Nanoseconds start = 0;
    Nanoseconds end = 0;
    trace::StringId name;
  };
  std::vector<Open> best_;
};

}  // namespace

std::vector<OpenOnHost> open_at(const trace::Trace& trace, const std::vector<HostMoment>& moments) {
  const MomentsByThread wanted(trace.threads.size(), moments);

  std::vector<uint8_t> has_operators(trace.threads.size(), 0);
  Innermost operators(moments.size());
  const trace::OperatorTable& operations = trace.operators;
  for (size_t row = 0; row < operations.size(); ++row) {
    const trace::ThreadId thread = operations.thread[row];
    if (!thread.valid()) continue;
    has_operators[thread.index()] = 1;
    const Nanoseconds start = operations.start[row];
    const Nanoseconds end = operations.end[row];
    wanted.each_in(thread, start, end, [&](size_t moment) {
      operators.offer(moment, start, end, operations.name[row]);
    });
  }

  Innermost labels(moments.size());
  const trace::RangeTable& ranges = trace.ranges;
  for (size_t row = 0; row < ranges.size(); ++row) {
    const bool on_a_thread = ranges.kind[row] == trace::RangeKind::push_pop ||
                             ranges.kind[row] == trace::RangeKind::annotation;
    if (!on_a_thread) continue;
    const Nanoseconds start = ranges.start[row];
    const Nanoseconds end = ranges.end[row];
    wanted.each_in(ranges.thread[row], start, end,
                   [&](size_t moment) { labels.offer(moment, start, end, ranges.text[row]); });
  }

  std::vector<OpenOnHost> open(moments.size());
  for (size_t i = 0; i < moments.size(); ++i) {
    const trace::ThreadId thread = moments[i].thread;
    open[i] = {operators.name(i), labels.name(i),
               thread.valid() && has_operators[thread.index()] != 0};
  }
  return open;
}

}  // namespace llmprof::analysis
