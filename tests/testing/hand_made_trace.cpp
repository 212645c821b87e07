#include "testing/hand_made_trace.h"

namespace llmprof::testing {

HandMadeTrace::HandMadeTrace() {
  builder_.begin_capture({});
  thread(1);
}

void HandMadeTrace::range(std::string_view text, Nanoseconds start, Nanoseconds end,
                          trace::RangeKind kind, trace::ThreadId on, std::string_view domain) {
  trace::RangeTable& ranges = builder_.trace().ranges;
  ranges.start.push_back(start);
  ranges.end.push_back(end);
  ranges.thread.push_back(on.valid() ? on : thread(1));
  ranges.domain.push_back(domain.empty() ? trace::StringId() : builder_.string(domain));
  ranges.text.push_back(builder_.string(text));
  ranges.kind.push_back(kind);
}

uint32_t HandMadeTrace::launch(Nanoseconds start, const Place& place) {
  const uint32_t correlation = place.correlation != 0 ? place.correlation : next_correlation_++;
  trace::LaunchTable& launches = builder_.trace().launches;
  const trace::ThreadId thread = thread_of(place);
  if (!launches.correlation.empty() && launches.correlation.back() == correlation &&
      launches.thread.back() == thread) {
    return correlation;
  }
  launches.start.push_back(start);
  launches.end.push_back(start + 1);
  launches.thread.push_back(thread);
  launches.api.push_back(builder_.string("cudaLaunchKernel"));
  launches.correlation.push_back(correlation);
  return correlation;
}

trace::QueueId HandMadeTrace::queue(const Place& place) {
  const trace::ProcessId process = builder_.thread_info(thread_of(place)).process;
  return builder_.queue({process, builder_.device(place.device), 0, place.stream});
}

void HandMadeTrace::kernel_row(std::string_view name, Nanoseconds start, Nanoseconds end,
                               const Place& place, uint32_t correlation) {
  trace::KernelTable& kernels = builder_.trace().kernels;
  trace::LaunchShape shape;
  shape.grid = place.grid;
  shape.block = {128, 1, 1};
  kernels.start.push_back(start);
  kernels.end.push_back(end);
  kernels.name.push_back(builder_.string(name));
  kernels.shape.push_back(builder_.shape(shape));
  kernels.queue.push_back(queue(place));
  kernels.correlation.push_back(correlation);
}

void HandMadeTrace::kernel(std::string_view name, Nanoseconds launched, Nanoseconds start,
                           Nanoseconds end) {
  kernel(name, launched, start, end, Place());
}

void HandMadeTrace::kernel(std::string_view name, Nanoseconds launched, Nanoseconds start,
                           Nanoseconds end, const Place& place) {
  kernel_row(name, start, end, place, launch(launched, place));
}

void HandMadeTrace::kernel_without_launch(std::string_view name, Nanoseconds start,
                                          Nanoseconds end) {
  kernel_row(name, start, end, Place(), 0);
}

void HandMadeTrace::copy(Nanoseconds launched, Nanoseconds start, Nanoseconds end) {
  trace::MemoryOperationTable& memory = builder_.trace().memory_operations;
  memory.start.push_back(start);
  memory.end.push_back(end);
  memory.bytes.push_back(1);
  memory.detail.push_back(builder_.string("Host-to-Device"));
  memory.queue.push_back(queue(Place()));
  memory.correlation.push_back(launch(launched, Place()));
  memory.kind.push_back(trace::MemoryKind::copy);
}

void HandMadeTrace::replay(Nanoseconds launched, Nanoseconds start, Nanoseconds end) {
  trace::GraphReplayTable& replays = builder_.trace().graph_replays;
  replays.start.push_back(start);
  replays.end.push_back(end);
  replays.queue.push_back(queue(Place()));
  replays.graph.push_back(1);
  replays.correlation.push_back(launch(launched, Place()));
}

void HandMadeTrace::tracing_changes(Nanoseconds time, bool tracing, trace::TracingReason reason) {
  trace::TracingTable& table = builder_.trace().tracing_changes;
  table.time.push_back(time);
  table.process.push_back(process(1));
  table.state.push_back(tracing ? trace::TracingState::tracing : trace::TracingState::detached);
  table.reason.push_back(reason);
  table.step.push_back(0);
  table.cost.push_back(0);
}

void add_metric_value(trace::Trace& trace, const trace::MetricValues& more) {
  for (trace::MetricValues& values : trace.metric_values) {
    if (values.identity != more.identity || values.metric != more.metric) continue;
    values.count += more.count;
    values.sum += more.sum;
    values.min = std::min(values.min, more.min);
    values.max = std::max(values.max, more.max);
    return;
  }
  trace.metric_values.push_back(more);
}

}  // namespace llmprof::testing
