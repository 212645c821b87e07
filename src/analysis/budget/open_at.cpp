#include "analysis/budget/open_at.h"

#include "analysis/budget/intervals_by_thread.h"

namespace llmprof {
namespace {

// Keeps the row that started last among those open, the shorter of two that started together.
class Innermost {
 public:
  explicit Innermost(size_t moments) : best_(moments) {}
  void offer(size_t moment, Nanoseconds start, Nanoseconds end, StringId name) {
    Open& best = best_[moment];
    const bool inside = start > best.start || (start == best.start && end <= best.end);
    if (!best.name.valid() || inside) best = {start, end, name};
  }
  [[nodiscard]] StringId name(size_t moment) const { return best_[moment].name; }

 private:
  struct Open {
    Nanoseconds start = 0;
    Nanoseconds end = 0;
    StringId name;
  };
  std::vector<Open> best_;
};

}  // namespace

std::vector<OpenOnHost> open_at(const Trace& trace, const std::vector<HostMoment>& moments) {
  IntervalsByThread wanted(trace.threads.size());
  for (size_t i = 0; i < moments.size(); ++i) {
    wanted.add(moments[i].thread, moments[i].time, moments[i].time, i);
  }
  wanted.order();

  std::vector<uint8_t> has_operators(trace.threads.size(), 0);
  Innermost operators(moments.size());
  const OperatorTable& operations = trace.operators;
  for (size_t row = 0; row < operations.size(); ++row) {
    const ThreadId thread = operations.thread[row];
    if (!thread.valid()) continue;
    has_operators[thread.index()] = 1;
    const Nanoseconds start = operations.start[row];
    const Nanoseconds end = operations.end[row];
    wanted.each_touched(thread, start, end, [&](size_t moment) {
      operators.offer(moment, start, end, operations.name[row]);
    });
  }

  Innermost labels(moments.size());
  const RangeTable& ranges = trace.ranges;
  for (size_t row = 0; row < ranges.size(); ++row) {
    const bool on_a_thread =
        ranges.kind[row] == RangeKind::push_pop || ranges.kind[row] == RangeKind::annotation;
    if (!on_a_thread) continue;
    const Nanoseconds start = ranges.start[row];
    const Nanoseconds end = ranges.end[row];
    wanted.each_touched(ranges.thread[row], start, end,
                        [&](size_t moment) { labels.offer(moment, start, end, ranges.text[row]); });
  }

  std::vector<OpenOnHost> open(moments.size());
  for (size_t i = 0; i < moments.size(); ++i) {
    const ThreadId thread = moments[i].thread;
    open[i] = {operators.name(i), labels.name(i),
               thread.valid() && has_operators[thread.index()] != 0};
  }
  return open;
}

}  // namespace llmprof
