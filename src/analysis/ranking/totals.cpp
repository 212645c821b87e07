#include "analysis/ranking/totals.h"

#include <algorithm>
#include <map>

#include "analysis/ranking/same_gpu.h"

namespace llmprof::analysis {
namespace {

// Grows with intervals in order of their starts.
class Union {
 public:
  void add(Nanoseconds start, Nanoseconds end) {
    if (!any_) first_ = start;
    if (!any_ || start > end_) {
      covered_ += end - start;
      end_ = end;
    } else if (end > end_) {
      covered_ += end - end_;
      end_ = end;
    }
    any_ = true;
  }
  [[nodiscard]] Nanoseconds covered() const { return covered_; }
  [[nodiscard]] Nanoseconds span() const { return end_ - first_; }

 private:
  bool any_ = false;
  Nanoseconds first_ = 0;
  Nanoseconds end_ = 0;
  Nanoseconds covered_ = 0;
};

std::vector<DeviceTotals> timeline_devices(const trace::Trace& trace) {
  const trace::KernelTable& kernels = trace.kernels;
  std::vector<Union> unions(trace.devices.size());
  std::vector<DeviceTotals> all(trace.devices.size());
  for (size_t i = 0; i < kernels.size(); ++i) {
    const size_t device = trace.queues[kernels.queue[i]].device.index();
    unions[device].add(kernels.start[i], kernels.end[i]);
    ++all[device].kernel_count;
    all[device].kernel_sum += kernels.end[i] - kernels.start[i];
  }
  std::vector<DeviceTotals> used;
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].kernel_count == 0) continue;
    all[i].device = device_label(trace, trace::DeviceId(i));
    all[i].name = trace.devices[i].name;
    all[i].busy = unions[i].covered();
    all[i].span = unions[i].span();
    used.push_back(std::move(all[i]));
  }
  std::sort(used.begin(), used.end(),
            [](const DeviceTotals& a, const DeviceTotals& b) { return a.device < b.device; });
  return used;
}

std::vector<DeviceTotals> ranked_devices(const trace::Trace& trace, const KernelRanking& ranking) {
  std::map<std::string, DeviceTotals> by_label;
  for (const KernelRow& row : ranking.rows) {
    DeviceTotals& device = by_label[row.device];
    device.device = row.device;
    device.kernel_count += row.calls;
    device.kernel_sum += row.total;
  }
  for (size_t i = 0; i < trace.devices.size(); ++i) {
    const auto known = by_label.find(device_label(trace, trace::DeviceId(i)));
    if (known != by_label.end()) known->second.name = trace.devices[i].name;
  }
  std::vector<DeviceTotals> devices;
  devices.reserve(by_label.size());
  for (auto& [label, device] : by_label) devices.push_back(std::move(device));
  return devices;
}

}  // namespace

Totals total_up(const trace::Trace& trace, const KernelRanking& ranking) {
  Totals totals;
  const bool timeline = ranking.source == KernelSource::timeline;
  totals.devices = timeline ? timeline_devices(trace) : ranked_devices(trace, ranking);
  totals.gpu_count = timeline ? gpus_with_kernels(trace).size() : totals.devices.size();
  for (const DeviceTotals& device : totals.devices) {
    totals.kernel_count += device.kernel_count;
    totals.kernel_sum += device.kernel_sum;
    if (device.busy) totals.busy = totals.busy.value_or(0) + *device.busy;
    if (device.span) totals.span = std::max(totals.span.value_or(0), *device.span);
  }
  const trace::MemoryOperationTable& memory = trace.memory_operations;
  totals.memory_operation_count = memory.size();
  for (size_t i = 0; i < memory.size(); ++i) {
    totals.memory_operation_sum += memory.end[i] - memory.start[i];
  }
  const trace::GraphReplayTable& replays = trace.graph_replays;
  totals.graph_replay_count = replays.size();
  for (size_t i = 0; i < replays.size(); ++i) {
    totals.graph_replay_sum += replays.end[i] - replays.start[i];
  }
  return totals;
}

}  // namespace llmprof::analysis
