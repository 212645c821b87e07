#include "analysis/budget/gpu_timeline.h"

#include <fmt/format.h>

namespace llmprof {

std::string work_name(const Trace& trace, const DescribedNames& names, GpuWorkKind kind,
                      uint32_t row) {
  if (kind == GpuWorkKind::kernel) return names[trace.kernels.name[row]].short_name;
  if (kind == GpuWorkKind::graph_replay) return "CUDA graph replay";
  const MemoryOperationTable& memory = trace.memory_operations;
  if (memory.kind[row] == MemoryKind::set) return "fill";
  const std::string_view direction =
      row < memory.detail.size() ? trace.strings[memory.detail[row]] : std::string_view();
  return direction.empty() ? "copy" : fmt::format("copy {}", direction);
}

std::vector<CoveredTime> busy_devices(const Trace& trace, const WorkOwners& owners) {
  std::vector<CoveredTime> busy(trace.devices.size());
  each_gpu_work(trace, owners, [&](const GpuWorkRow& work) {
    const DeviceId device = trace.queues[work.queue].device;
    if (device.valid()) busy[device.index()].add(work.start, work.end);
  });
  return busy;
}

}  // namespace llmprof
