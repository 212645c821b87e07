#pragma once

#include <string_view>

#include "trace/builder.h"

namespace llmprof::testing {

// A hand-made capture: one process, one thread, one GPU unless a test adds more. The test chooses
// all times.
class HandMadeTrace {
 public:
  HandMadeTrace();

  trace::ProcessId process(uint64_t pid) { return builder_.process(pid, pid); }
  trace::ThreadId thread(uint64_t tid) { return thread(process(1), tid); }
  trace::ThreadId thread(trace::ProcessId process, uint64_t tid) {
    return builder_.thread(process, tid, tid);
  }

  // On the first thread unless `on` names another; an empty domain is the default one.
  void range(std::string_view text, Nanoseconds start, Nanoseconds end,
             trace::RangeKind kind = trace::RangeKind::push_pop, trace::ThreadId on = {},
             std::string_view domain = "");

  // Where work is launched and runs.
  struct Place {
    trace::ThreadId thread;  // default: the first
    uint32_t device = 0;
    uint32_t stream = 7;
    uint32_t correlation = 0;  // 0: a new launch; the thread's last one: that launch
    trace::Extent grid{1, 1, 1};
  };
  // Work on the GPU from `start` to `end`, and its launching API call at `launched`.
  void kernel(std::string_view name, Nanoseconds launched, Nanoseconds start, Nanoseconds end);
  void kernel(std::string_view name, Nanoseconds launched, Nanoseconds start, Nanoseconds end,
              const Place& place);
  void kernel_without_launch(std::string_view name, Nanoseconds start, Nanoseconds end);
  void copy(Nanoseconds launched, Nanoseconds start, Nanoseconds end);
  void replay(Nanoseconds launched, Nanoseconds start, Nanoseconds end);
  // At `time`, our collector starts to trace the first process, or is detached from it.
  void tracing_changes(Nanoseconds time, bool tracing, trace::TracingReason reason);

  [[nodiscard]] trace::TraceBuilder& builder() { return builder_; }
  trace::Trace freeze() { return std::move(builder_).freeze(); }

 private:
  uint32_t launch(Nanoseconds start, const Place& place);
  trace::QueueId queue(const Place& place);
  trace::ThreadId thread_of(const Place& place) {
    return place.thread.valid() ? place.thread : thread(1);
  }
  void kernel_row(std::string_view name, Nanoseconds start, Nanoseconds end, const Place& place,
                  uint32_t correlation);

  trace::TraceBuilder builder_;
  uint32_t next_correlation_ = 1;
};

// Adds values of one metric of one kernel identity.
void add_metric_value(trace::Trace& trace, const trace::MetricValues& more);

}  // namespace llmprof::testing
