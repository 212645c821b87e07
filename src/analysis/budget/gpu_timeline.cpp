#include "analysis/budget/gpu_timeline.h"

#include <fmt/format.h>

namespace llmprof::analysis {

std::string_view memory_operation_name(const trace::Trace& trace, size_t row) {
  const trace::MemoryOperationTable& memory = trace.memory_operations;
  if (memory.kind[row] == trace::MemoryKind::set) return "fill";
  const std::string_view direction =
      row < memory.detail.size() ? trace.strings[memory.detail[row]] : std::string_view();
  return direction.empty() ? std::string_view("copy") : direction;
}

std::string work_name(const trace::Trace& trace, const DescribedNames& names, GpuWorkKind kind,
                      uint32_t row) {
  if (kind == GpuWorkKind::kernel) return names[trace.kernels.name[row]].short_name;
  if (kind == GpuWorkKind::graph_replay) return "CUDA graph replay";
  const trace::MemoryOperationTable& memory = trace.memory_operations;
  const std::string_view name = memory_operation_name(trace, row);
  const bool directed = memory.kind[row] == trace::MemoryKind::copy && row < memory.detail.size() &&
                        !trace.strings[memory.detail[row]].empty();
  return directed ? fmt::format("copy {}", name) : std::string(name);
}

// Captures store this in different columns, or only with the launch.
bool replayed_by_graph(const trace::Trace& trace, size_t row) {
  const trace::KernelTable& kernels = trace.kernels;
  if (!kernels.graph.empty() && kernels.graph[row] != 0) return true;
  if (!kernels.graph_node.empty() && kernels.graph_node[row] != 0) return true;
  if (kernels.launch.empty() || !kernels.launch[row].valid()) return false;
  const trace::StringId api = trace.launches.api[kernels.launch[row].index()];
  return trace.api_kind(api) == trace::ApiKind::graph_launch;
}

WorkKey work_key(const trace::Trace& trace, const GpuWorkRow& work) {
  switch (work.kind) {
    case GpuWorkKind::kernel:
      return {work.kind, trace.kernels.name[work.row].value};
    case GpuWorkKind::graph_replay:
      return {work.kind, trace.graph_replays.graph[work.row]};
    case GpuWorkKind::memory_operation:
      break;
  }
  const trace::MemoryOperationTable& memory = trace.memory_operations;
  return {work.kind, work.row < memory.detail.size() ? memory.detail[work.row].value : 0};
}

std::vector<CoveredTime> busy_devices(const trace::Trace& trace) {
  std::vector<CoveredTime> busy(trace.devices.size());
  std::vector<size_t> rows(trace.queues.size(), 0);
  for (const auto* queues :
       {&trace.kernels.queue, &trace.memory_operations.queue, &trace.graph_replays.queue}) {
    for (const trace::QueueId queue : *queues) ++rows[queue.index()];
  }
  std::vector<size_t> of_device(busy.size(), 0);
  for (size_t i = 0; i < rows.size(); ++i) {
    const trace::DeviceId device = trace.queues[trace::QueueId(i)].device;
    if (device.valid()) of_device[device.index()] += rows[i];
  }
  for (size_t i = 0; i < busy.size(); ++i) busy[i].reserve(of_device[i]);
  each_gpu_work(trace, WorkOwners(), [&](const GpuWorkRow& work) {
    const trace::DeviceId device = trace.queues[work.queue].device;
    if (device.valid()) busy[device.index()].add(work.start, work.end);
  });
  return busy;
}

}  // namespace llmprof::analysis
