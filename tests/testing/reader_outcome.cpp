#include "testing/reader_outcome.h"

#include <utility>

namespace llmprof::testing {
namespace {

bool holds_anything(const trace::Trace& trace) {
  return trace.workload.has_value() || trace.requests.size() > 0 ||
         !trace.allocator_snapshots.empty() ||
         trace.kernels.size() + trace.memory_operations.size() + trace.graph_replays.size() +
                 trace.launches.size() + trace.ranges.size() + trace.steps.size() +
                 trace.operators.size() + trace.counters.size() + trace.tracing_changes.size() +
                 trace.kernel_summaries.size() + trace.call_summaries.size() +
                 trace.profiled_launches.size() >
             0;
}

template <class Table>
bool columns_agree(Table& table) {
  return std::apply(
      [&](auto&... column) { return ((column.empty() || column.size() == table.size()) && ...); },
      table.columns());
}

bool is_before(Nanoseconds time, Nanoseconds other) {
  return time != trace::kNoTime && other != trace::kNoTime && time < other;
}

// A request's chunks lie between those of its neighbors, in order and after it was sent.
std::string judge_requests(const trace::Trace& trace) {
  const trace::RequestTable& requests = trace.requests;
  size_t chunk = trace.chunks.size();
  for (size_t i = requests.size(); i-- > 0;) {
    if (requests.file[i] >= trace.request_files.size()) return "a request of no file";
    if (is_before(requests.end[i], requests.sent[i])) return "a request that ends before it starts";
    if (requests.first_chunk[i] > chunk) return "a request with chunks of the next one";
    const size_t end = std::exchange(chunk, requests.first_chunk[i]);
    for (size_t at = chunk; at < end; ++at) {
      const Nanoseconds before = at > chunk ? trace.chunks.time[at - 1] : requests.sent[i];
      if (is_before(trace.chunks.time[at], before)) return "a chunk out of order";
    }
  }
  return requests.size() > 0 || trace.chunks.size() == 0 ? "" : "chunks without a request";
}

// Times must be in order, and all references valid.
std::string judge_rows(const trace::Trace& trace) {
  const trace::KernelTable& kernels = trace.kernels;
  for (size_t i = 0; i < kernels.size(); ++i) {
    if (kernels.end[i] < kernels.start[i]) return "a kernel that ends before it starts";
    if (kernels.queue[i].index() >= trace.queues.size()) return "a kernel on no queue";
    if (!kernels.node_range.empty() && kernels.node_range[i].valid() &&
        kernels.node_range[i].index() >= trace.ranges.size()) {
      return "a kernel in a range that does not exist";
    }
  }
  const trace::MemoryOperationTable& memory = trace.memory_operations;
  for (size_t i = 0; i < memory.size(); ++i) {
    if (memory.queue[i].index() >= trace.queues.size()) return "a memory operation on no queue";
  }
  const trace::CounterTable& counters = trace.counters;
  for (size_t i = 0; i < counters.size(); ++i) {
    if (counters.end[i] < counters.start[i]) return "a sample that ends before it starts";
    if (counters.device[i].index() >= trace.devices.size()) return "a sample of no device";
    if (counters.metric[i].index() >= trace.metrics.size()) return "a sample of no metric";
  }
  return judge_requests(trace);
}

}  // namespace

std::string judge_reading(const readers::Reader& reader, const std::filesystem::path& path) {
  trace::TraceBuilder builder;
  const auto done = reader.read(path, builder);
  if (!done) return done.error().message.empty() ? "an error without a message" : "";
  trace::Trace trace = std::move(builder).freeze();
  if (!holds_anything(trace) && trace.diagnostics.items().empty()) return "an empty success";
  if (!columns_agree(trace.kernels) || !columns_agree(trace.memory_operations) ||
      !columns_agree(trace.graph_replays) || !columns_agree(trace.launches) ||
      !columns_agree(trace.ranges) || !columns_agree(trace.steps) ||
      !columns_agree(trace.operators) || !columns_agree(trace.counters) ||
      !columns_agree(trace.tracing_changes) || !columns_agree(trace.requests) ||
      !columns_agree(trace.chunks)) {
    return "columns of different lengths";
  }
  return judge_rows(trace);
}

}  // namespace llmprof::testing
