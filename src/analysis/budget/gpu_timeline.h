#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/budget/budget_basis.h"
#include "analysis/naming/classes.h"
#include "analysis/stages/stages.h"

namespace llmprof::analysis {

enum class GpuWorkKind : uint8_t { kernel, memory_operation, graph_replay };

// One row of the trace's tables of GPU work.
struct GpuWorkRow {
  GpuWorkKind kind = GpuWorkKind::kernel;
  uint32_t row = 0;
  Nanoseconds start = 0;
  Nanoseconds end = 0;  // never before start
  trace::QueueId queue;
  trace::LaunchRow launch;
  InstanceId instance;
  StepId step;
};

// "Device-to-Host"; "fill"; "copy" if the direction is unknown.
std::string_view memory_operation_name(const trace::Trace& trace, size_t row);

// "GEMM 128x272 sm90 (nvjet)", "copy Device-to-Host", "fill", "CUDA graph replay".
std::string work_name(const trace::Trace& trace, const DescribedNames& names, GpuWorkKind kind,
                      uint32_t row);

// Whether a CUDA graph replayed this kernel row.
bool replayed_by_graph(const trace::Trace& trace, size_t row);

// Equal for the same work: kernels of one name, copies in one direction, replays of one graph.
using WorkKey = std::pair<GpuWorkKind, uint32_t>;
WorkKey work_key(const trace::Trace& trace, const GpuWorkRow& work);

namespace detail {

template <class IdType>
IdType owner(const std::vector<IdType>& owners, size_t row) {
  return row < owners.size() ? owners[row] : IdType();
}

template <class Table>
GpuWorkRow gpu_work_row(const Table& table, size_t row, GpuWorkKind kind,
                        const std::vector<InstanceId>& instances,
                        const std::vector<StepId>& steps) {
  const Nanoseconds start = table.start[row];
  return {kind,
          static_cast<uint32_t>(row),
          start,
          std::max(start, table.end[row]),
          table.queue[row],
          owner(table.launch, row),
          owner(instances, row),
          owner(steps, row)};
}

}  // namespace detail

// Calls visit(const GpuWorkRow&) for all GPU work in order of start; at equal starts, kernels come
// before replays, and replays before memory operations.
template <class Visit>
void each_gpu_work(const trace::Trace& trace, const WorkOwners& owners, Visit&& visit) {
  const trace::KernelTable& kernels = trace.kernels;
  const trace::GraphReplayTable& replays = trace.graph_replays;
  const trace::MemoryOperationTable& memory = trace.memory_operations;
  size_t replay = 0;
  size_t operation = 0;
  const auto memory_until = [&](Nanoseconds time) {
    for (; operation < memory.size() && memory.start[operation] < time; ++operation) {
      visit(detail::gpu_work_row(memory, operation, GpuWorkKind::memory_operation,
                                 owners.memory_instance, owners.memory_step));
    }
  };
  const auto others_until = [&](Nanoseconds time) {
    for (; replay < replays.size() && replays.start[replay] < time; ++replay) {
      memory_until(replays.start[replay]);
      visit(detail::gpu_work_row(replays, replay, GpuWorkKind::graph_replay, owners.replay_instance,
                                 owners.replay_step));
    }
    memory_until(time);
  };
  for (size_t row = 0; row < kernels.size(); ++row) {
    others_until(kernels.start[row]);
    visit(detail::gpu_work_row(kernels, row, GpuWorkKind::kernel, owners.kernel_instance,
                               owners.kernel_step));
  }
  others_until(INT64_MAX);
}

// When each device was busy: one entry per device.
std::vector<CoveredTime> busy_devices(const trace::Trace& trace);

}  // namespace llmprof::analysis
