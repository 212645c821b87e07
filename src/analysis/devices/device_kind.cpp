#include "analysis/devices/device_kind.h"

#include <algorithm>
#include <vector>

#include "analysis/ranking/same_work.h"

namespace llmprof::analysis {
namespace {

// By queue: whether it is a CPU's.
std::vector<bool> cpu_queues(const trace::Trace& trace) {
  std::vector<bool> cpu;
  cpu.reserve(trace.queues.size());
  for (const trace::Queue& queue : trace.queues.values()) {
    cpu.push_back(queue.device.valid() &&
                  trace.devices[queue.device.index()].kind == trace::DeviceKind::cpu);
  }
  return cpu;
}

}  // namespace

trace::DeviceKind device_kind(const trace::Trace& trace) {
  const std::vector<bool> cpu = cpu_queues(trace);
  const auto& queues = trace.kernels.queue;
  if (std::find(cpu.begin(), cpu.end(), true) == cpu.end() || queues.empty()) {
    return trace::DeviceKind::gpu;
  }
  const bool only_cpu = std::all_of(queues.begin(), queues.end(),
                                    [&](trace::QueueId queue) { return cpu[queue.index()]; });
  return only_cpu ? trace::DeviceKind::cpu : trace::DeviceKind::gpu;
}

void leave_cpu_operators_aside(trace::Trace& trace, Diagnostics& diagnostics) {
  const std::vector<bool> cpu = cpu_queues(trace);
  if (std::find(cpu.begin(), cpu.end(), true) == cpu.end()) return;
  trace::KernelTable& kernels = trace.kernels;
  const auto on_cpu = [&](size_t i) { return cpu[kernels.queue[i].index()]; };
  size_t operators = 0;
  for (size_t i = 0; i < kernels.size(); ++i) {
    if (on_cpu(i)) ++operators;
  }
  const bool gpu_work = operators < kernels.size() || trace.graph_replays.size() > 0 ||
                        trace.memory_operations.size() > 0;
  if (operators == 0 || !gpu_work) return;
  std::vector<bool> keep(kernels.size());
  for (size_t i = 0; i < keep.size(); ++i) keep[i] = !on_cpu(i);
  keep_rows(kernels, keep);
  diagnostics.info("cpu_operators_left_aside",
                   "CPU operators beside a GPU's kernels: they are told as operators and are in no "
                   "total of kernels",
                   operators);
}

}  // namespace llmprof::analysis
