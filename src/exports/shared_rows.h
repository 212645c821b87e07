#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <vector>

#include "analysis/budget/gpu_timeline.h"
#include "exports/exports.h"
#include "trace/name_kinds.h"
#include "trace/trace.h"

namespace llmprof::exports {

// How viewers show calls: Perfetto's category, and how the page draws them.
enum class CallKind : uint8_t { other, launch, synchronization, copy };
struct CallGroup {
  std::string_view category;
  CallKind kind;
};
inline constexpr std::array<CallGroup, 9> kCallGroups = {{
    {"API call", CallKind::other},
    {"launch", CallKind::launch},
    {"graph launch", CallKind::launch},
    {"synchronization", CallKind::synchronization},
    {"copy", CallKind::copy},
    {"copy", CallKind::copy},  // blocking
    {"allocation", CallKind::other},
    {"graph capture", CallKind::other},  // its start
    {"graph capture", CallKind::other},  // its end
}};
static_assert(kCallGroups.size() == static_cast<size_t>(trace::ApiKind::capture_end) + 1);
constexpr const CallGroup& call_group(trace::ApiKind kind) {
  return kCallGroups[static_cast<size_t>(kind)];
}

// A time interval, and the row of the table of that kind that it is from.
struct Interval {
  Nanoseconds start = 0;
  Nanoseconds end = 0;  // never before the start
  uint8_t kind = 0;
  uint32_t row = 0;
};
using Intervals = std::vector<Interval>;

// Appends the rows of a table, as `entry_of(row)`, to lists, one for each queue or thread:
// list_of(row) is the number of its list, kNoList if it belongs to none.
inline constexpr size_t kNoList = SIZE_MAX;
template <class ListOf, class EntryOf, class Entry>
void append_rows(size_t rows, const ListOf& list_of, const EntryOf& entry_of,
                 std::vector<std::vector<Entry>>& lists) {
  // There are millions of calls: growing lists would be copied repeatedly.
  std::vector<size_t> sizes(lists.size());
  std::ranges::transform(lists, sizes.begin(), &std::vector<Entry>::size);
  for (size_t row = 0; row < rows; ++row) {
    if (const size_t list = list_of(row); list != kNoList) ++sizes[list];
  }
  for (size_t i = 0; i < lists.size(); ++i) lists[i].reserve(sizes[i]);
  for (size_t row = 0; row < rows; ++row) {
    if (const size_t list = list_of(row); list != kNoList) lists[list].push_back(entry_of(row));
  }
}

// A range that was never closed ends at `last`.
template <class Table, class ListOf>
void add_intervals(const Table& table, uint8_t kind, Nanoseconds last, const ListOf& list_of,
                   std::vector<Intervals>& lists) {
  const auto interval_of = [&](size_t row) -> Interval {
    const Nanoseconds end = table.end[row] == trace::kOpenEnd ? last : table.end[row];
    return {table.start[row], std::max(table.start[row], end), kind, static_cast<uint32_t>(row)};
  };
  append_rows(table.size(), list_of, interval_of, lists);
}

// By start, outer intervals first; equal ones keep their order.
void sort_outer_first(Intervals& intervals);

using WorkKind = analysis::GpuWorkKind;
// GPU work without its times, which would triple the memory of millions of rows.
struct WorkRow {
  uint32_t row = 0;
  WorkKind kind{};
};
inline Interval interval_of(const trace::Trace& trace, WorkRow work) {
  const auto in = [&](const auto& table) -> Interval {
    const Nanoseconds start = table.start[work.row];
    return {start, std::max(start, table.end[work.row]), static_cast<uint8_t>(work.kind), work.row};
  };
  if (work.kind == WorkKind::kernel) return in(trace.kernels);
  return work.kind == WorkKind::memory_operation ? in(trace.memory_operations)
                                                 : in(trace.graph_replays);
}
// The work of each queue, by start.
std::vector<std::vector<WorkRow>> work_by_queue(const trace::Trace& trace);

// What the rows of one table of GPU work belong to.
struct WorkOwners {
  const std::vector<trace::LaunchRow>& launch;
  const std::vector<analysis::InstanceId>& instance;
  const std::vector<analysis::StepId>& step;
  const std::vector<uint8_t>& idle_before;
};
WorkOwners owners_of(const ExportSource& source, WorkKind kind);

// A layer of one pass: from its first kernel's start to its last one's end.
struct LayerSpan {
  uint64_t pass = 0;
  analysis::LayerRowId layer;
  Nanoseconds start = 0;
  Nanoseconds end = 0;
};
std::map<trace::DeviceId, std::vector<LayerSpan>> layer_spans(const ExportSource& source);

// Calls visit(first, end) for the samples of each counter of each device: rows of Trace::counters.
template <class Visit>
void each_counter(const trace::CounterTable& counters, const Visit& visit) {
  for (size_t first = 0, row = 0; first < counters.size(); first = row) {
    while (row < counters.size() && counters.device[row] == counters.device[first] &&
           counters.metric[row] == counters.metric[first]) {
      ++row;
    }
    visit(first, row);
  }
}

// A sample's value holds from its start to its end, and falls to 0 if no other sample starts there;
// an instant reading holds until the next.
inline bool falls_to_zero(const trace::CounterTable& counters, size_t row, size_t end) {
  const bool followed = row + 1 < end && counters.start[row + 1] <= counters.end[row];
  return counters.end[row] > counters.start[row] && !followed;
}

}  // namespace llmprof::exports
