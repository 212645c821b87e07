#include "analysis/timeline/copies.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace llmprof::analysis {
namespace {

using CopyKey =
    std::tuple<trace::DeviceId, std::string_view, trace::MemoryPlace, trace::MemoryPlace>;

std::string_view direction_of(const trace::Trace& trace, size_t row) {
  const trace::MemoryOperationTable& memory = trace.memory_operations;
  if (memory.kind[row] == trace::MemoryKind::set) return "fill";
  const bool known = row < memory.detail.size() && memory.detail[row].valid();
  return known ? trace.strings[memory.detail[row]] : std::string_view("copy");
}

trace::MemoryPlace place_of(const std::vector<trace::MemoryPlace>& places, size_t row) {
  return row < places.size() ? places[row] : trace::MemoryPlace::unknown;
}

struct CopyGroup {
  CopiesOfKind row;
  std::vector<uint64_t> sizes;
};

void summarize_sizes(CopyGroup& group) {
  std::vector<uint64_t>& sizes = group.sizes;
  if (sizes.empty()) return;
  const size_t middle = (sizes.size() - 1) / 2;
  std::sort(sizes.begin(), sizes.end());
  group.row.smallest = sizes.front();
  group.row.median = sizes[middle];
  group.row.largest = sizes.back();
}

}  // namespace

std::vector<CopiesOfKind> find_copies(const trace::Trace& trace) {
  const trace::MemoryOperationTable& memory = trace.memory_operations;
  std::map<CopyKey, CopyGroup> groups;
  for (size_t row = 0; row < memory.size(); ++row) {
    const CopyKey key{trace.queues[memory.queue[row]].device, direction_of(trace, row),
                      place_of(memory.from, row), place_of(memory.to, row)};
    CopyGroup& group = groups[key];
    const Nanoseconds time = std::max<Nanoseconds>(0, memory.end[row] - memory.start[row]);
    ++group.row.count;
    group.row.total += time;
    // Captures without sizes leave them 0.
    if (memory.bytes[row] == 0) continue;
    ++group.row.sized;
    group.row.sized_total += time;
    group.row.bytes += memory.bytes[row];
    group.sizes.push_back(memory.bytes[row]);
  }
  std::vector<CopiesOfKind> rows;
  for (auto& [key, group] : groups) {
    summarize_sizes(group);
    std::tie(group.row.device, std::ignore, group.row.from, group.row.to) = key;
    group.row.direction = std::get<1>(key);
    rows.push_back(std::move(group.row));
  }
  std::stable_sort(rows.begin(), rows.end(), [](const CopiesOfKind& a, const CopiesOfKind& b) {
    return a.device != b.device ? a.device < b.device : a.total > b.total;
  });
  return rows;
}

std::string_view to_string(trace::MemoryPlace place) {
  switch (place) {
    case trace::MemoryPlace::unknown:
      return "";
    case trace::MemoryPlace::pageable:
      return "pageable";
    case trace::MemoryPlace::pinned:
      return "pinned";
    case trace::MemoryPlace::host:
      return "host";
    case trace::MemoryPlace::device:
      return "device";
    case trace::MemoryPlace::array:
      return "array";
    case trace::MemoryPlace::managed:
      return "managed";
  }
  return "";
}

}  // namespace llmprof::analysis
