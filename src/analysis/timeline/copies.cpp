#include "analysis/timeline/timeline.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "analysis/budget/gpu_timeline.h"
#include "analysis/ranking/kernels.h"
#include "analysis/statistics/statistics.h"
#include "base/units.h"

namespace llmprof::analysis {
namespace {

using CopyKey =
    std::tuple<trace::DeviceId, std::string_view, trace::MemoryPlace, trace::MemoryPlace>;

trace::MemoryPlace place_of(const std::vector<trace::MemoryPlace>& places, size_t row) {
  return row < places.size() ? places[row] : trace::MemoryPlace::unknown;
}

// Overlap counts twice.
struct CopyGroup : Calls {
  Nanoseconds sized_total = 0;  // of copies with a known size
  std::vector<uint64_t> sizes;
};

profile::Copies copies_of(const trace::Trace& trace, const CopyKey& key, CopyGroup& group) {
  const auto& [device, direction, from, to] = key;
  profile::Copies row;
  row.device = device_label(trace, device);
  row.direction = to_printable(direction);
  row.from = profile::find_word<profile::MemoryPlace>(profile::to_string(from));
  row.to = profile::find_word<profile::MemoryPlace>(profile::to_string(to));
  row.count = group.calls;
  row.total = to_milliseconds(group.total);
  std::vector<uint64_t>& sizes = group.sizes;
  row.without_size = group.calls - sizes.size();
  if (sizes.empty()) return row;
  const auto size = [](uint64_t bytes) { return profile::Bytes{static_cast<double>(bytes)}; };
  std::ranges::sort(sizes);
  row.bytes = size(std::accumulate(sizes.begin(), sizes.end(), uint64_t{0}));
  row.bytes_per_s = quantity<profile::BytesPerSecond>(
      ratio(row.bytes->value, static_cast<double>(group.sized_total) / kNanosecondsPerSecond));
  row.min_bytes = size(sizes.front());
  row.p50_bytes = size(sizes[(sizes.size() - 1) / 2]);
  row.max_bytes = size(sizes.back());
  return row;
}

}  // namespace

std::vector<profile::Copies> find_copies(const trace::Trace& trace) {
  const trace::MemoryOperationTable& memory = trace.memory_operations;
  std::map<CopyKey, CopyGroup> groups;
  for (size_t row = 0; row < memory.size(); ++row) {
    const CopyKey key{trace.queues[memory.queue[row]].device, memory_operation_name(trace, row),
                      place_of(memory.from, row), place_of(memory.to, row)};
    CopyGroup& group = groups[key];
    const Nanoseconds time = std::max<Nanoseconds>(0, memory.end[row] - memory.start[row]);
    group += {1, time};
    // 0 if the capture has no sizes.
    if (memory.bytes[row] == 0) continue;
    group.sized_total += time;
    group.sizes.push_back(memory.bytes[row]);
  }
  std::vector<profile::Copies> rows;
  rows.reserve(groups.size());
  for (auto& [key, group] : groups) rows.push_back(copies_of(trace, key, group));
  std::ranges::stable_sort(rows, [](const auto& a, const auto& b) {
    return a.device != b.device ? a.device < b.device : a.total > b.total;
  });
  return rows;
}

}  // namespace llmprof::analysis
