#include "exports/shared_rows.h"

#include <algorithm>

namespace llmprof::exports {
namespace {

// Kernels of a layer are consecutive, except for a few that overlap the next layer.
void add_kernel(const LayerSpan& kernel, std::vector<LayerSpan>& spans) {
  constexpr size_t kLookBack = 4;
  for (size_t i = 0; i < std::min(kLookBack, spans.size()); ++i) {
    LayerSpan& span = spans[spans.size() - 1 - i];
    if (span.pass != kernel.pass || span.layer != kernel.layer) continue;
    span.end = std::max(span.end, kernel.end);
    return;
  }
  spans.push_back(kernel);
}

}  // namespace

void sort_outer_first(Intervals& intervals) {
  const auto before = [](const Interval& a, const Interval& b) {
    return a.start != b.start ? a.start < b.start : a.end > b.end;
  };
  // Often from two tables, each in order.
  const auto second = std::is_sorted_until(intervals.begin(), intervals.end(), before);
  if (std::is_sorted(second, intervals.end(), before)) {
    std::inplace_merge(intervals.begin(), second, intervals.end(), before);
  } else {
    std::ranges::stable_sort(intervals, before);
  }
}

std::vector<std::vector<WorkRow>> work_by_queue(const trace::Trace& trace) {
  std::vector<size_t> sizes(trace.queues.size(), 0);
  for (const auto* queues :
       {&trace.kernels.queue, &trace.memory_operations.queue, &trace.graph_replays.queue}) {
    for (const trace::QueueId queue : *queues) ++sizes[queue.index()];
  }
  std::vector<std::vector<WorkRow>> work(sizes.size());
  for (size_t i = 0; i < sizes.size(); ++i) work[i].reserve(sizes[i]);
  analysis::each_gpu_work(trace, {}, [&](const analysis::GpuWorkRow& each) {
    work[each.queue.index()].push_back({each.row, each.kind});
  });
  // Tables of captures whose clocks were moved are not in order.
  const auto start_of = [&](WorkRow row) { return interval_of(trace, row).start; };
  for (std::vector<WorkRow>& of_queue : work) {
    if (std::ranges::is_sorted(of_queue, {}, start_of)) continue;
    std::ranges::stable_sort(of_queue, {}, start_of);
  }
  return work;
}

WorkOwners owners_of(const ExportSource& source, WorkKind kind) {
  const trace::Trace& trace = source.trace;
  const analysis::WorkOwners& owners = source.results.stages.owners;
  const analysis::IdleBefore& idle = source.results.idle_before;
  if (kind == WorkKind::kernel) {
    return {trace.kernels.launch, owners.kernel_instance, owners.kernel_step, idle.kernel};
  }
  if (kind == WorkKind::memory_operation) {
    return {trace.memory_operations.launch, owners.memory_instance, owners.memory_step,
            idle.memory_operation};
  }
  return {trace.graph_replays.launch, owners.replay_instance, owners.replay_step,
          idle.graph_replay};
}

std::map<trace::DeviceId, std::vector<LayerSpan>> layer_spans(const ExportSource& source) {
  const trace::KernelTable& kernels = source.trace.kernels;
  const analysis::WorkOwners& owners = source.results.stages.owners;
  const auto& layer_of = source.results.layers.of_kernel;
  std::map<trace::DeviceId, std::vector<LayerSpan>> devices;
  std::vector<std::vector<LayerSpan>*> of_queue(source.trace.queues.size(), nullptr);
  for (size_t row = 0; row < layer_of.size(); ++row) {
    if (!layer_of[row].valid()) continue;
    constexpr uint64_t kInstances = 1ULL << 32U;
    const uint64_t pass = owners.kernel_step[row].valid()
                              ? owners.kernel_step[row].index()
                              : kInstances | owners.kernel_instance[row].value;
    std::vector<LayerSpan>*& spans = of_queue[kernels.queue[row].index()];
    if (spans == nullptr) spans = &devices[source.trace.queues[kernels.queue[row]].device];
    add_kernel({pass, layer_of[row], kernels.start[row], kernels.end[row]}, *spans);
  }
  return devices;
}

}  // namespace llmprof::exports
