#include "analysis/ranking/left_out_captures.h"

#include <utility>

namespace llmprof::analysis {

LeftOutWork leave_out_gpu_work(trace::Trace& trace, const std::vector<bool>& captures) {
  std::vector<bool> stays;  // by queue
  for (const trace::Queue& queue : trace.queues.values()) {
    stays.push_back(!queue.device.valid() ||
                    !captures[trace.devices[queue.device.index()].capture.index()]);
  }
  const size_t before = trace.kernels.size();
  const auto keep = [&](auto& table) {
    std::vector<bool> rows(table.size());
    for (size_t i = 0; i < rows.size(); ++i) rows[i] = stays[table.queue[i].index()];
    keep_rows(table, rows);
  };
  keep(trace.kernels);
  keep(trace.memory_operations);
  keep(trace.graph_replays);

  trace::Interner<trace::QueueId, trace::Queue> queues;
  std::vector<trace::QueueId> places(trace.queues.size());
  for (size_t i = 0; i < places.size(); ++i) {
    if (stays[i]) places[i] = queues.intern(trace.queues[trace::QueueId(i)]);
  }
  const auto follow = [&](std::vector<trace::QueueId>& column) {
    for (trace::QueueId& queue : column) queue = places[queue.index()];
  };
  follow(trace.kernels.queue);
  follow(trace.memory_operations.queue);
  follow(trace.graph_replays.queue);
  trace.queues = std::move(queues);
  return {before - trace.kernels.size()};
}

}  // namespace llmprof::analysis
