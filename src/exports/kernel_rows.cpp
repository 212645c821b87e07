#include "exports/kernel_rows.h"

#include <string>

namespace llmprof::exports {
namespace {

uint64_t key_of(trace::StringId name, size_t device) {
  return static_cast<uint64_t>(device) << 32U | name.value;
}

}  // namespace

KernelRows::KernelRows(const trace::Trace& trace, const analysis::KernelRanking& ranking)
    : trace_(trace) {
  if (ranking.source != analysis::KernelSource::timeline) return;
  std::unordered_map<std::string, std::vector<size_t>> devices;
  for (size_t i = 0; i < trace.devices.size(); ++i) {
    devices[analysis::device_label(trace, trace::DeviceId(i))].push_back(i);
  }
  for (size_t row = 0; row < ranking.rows.size(); ++row) {
    for (const size_t device : devices[ranking.rows[row].device]) {
      rows_.emplace(key_of(ranking.rows[row].name, device), static_cast<uint32_t>(row));
    }
  }
}

uint32_t KernelRows::of(size_t kernel) const {
  const trace::DeviceId device = trace_.queues[trace_.kernels.queue[kernel]].device;
  const auto found = rows_.find(key_of(trace_.kernels.name[kernel], device.index()));
  return found == rows_.end() ? kNone : found->second;
}

}  // namespace llmprof::exports
