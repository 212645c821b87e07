#include "trace/freeze.h"

#include <algorithm>
#include <future>
#include <numeric>
#include <type_traits>
#include <utility>

#include "trace/append.h"

namespace llmprof::trace {
namespace {

struct Row {
  Nanoseconds start;
  uint32_t row;
};

bool before(const Row& a, const Row& b) {
  return a.start != b.start ? a.start < b.start : a.row < b.row;
}

// Starts of the sorted runs, and the end; none if there are too many to merge.
std::vector<std::ptrdiff_t> ordered_stretches(const std::vector<Row>& rows) {
  constexpr size_t kMost = 64;
  std::vector<std::ptrdiff_t> bounds = {0};
  auto end = rows.begin();
  while (end != rows.end() && bounds.size() <= kMost) {
    end = std::is_sorted_until(end, rows.end(), before);
    bounds.push_back(end - rows.begin());
  }
  if (end != rows.end()) bounds.clear();
  return bounds;
}

void merge_stretches(std::vector<Row>& rows, std::vector<std::ptrdiff_t> bounds) {
  while (bounds.size() > 2) {
    std::vector<std::ptrdiff_t> merged = {0};
    for (size_t i = 1; i < bounds.size(); i += 2) {
      const std::ptrdiff_t end = bounds[std::min(i + 1, bounds.size() - 1)];
      std::inplace_merge(rows.begin() + bounds[i - 1], rows.begin() + bounds[i], rows.begin() + end,
                         before);
      merged.push_back(end);
    }
    bounds = std::move(merged);
  }
}

std::vector<Row> order_of(const std::vector<Nanoseconds>& start) {
  std::vector<Row> order(start.size());
  for (size_t i = 0; i < start.size(); ++i) order[i] = {start[i], static_cast<uint32_t>(i)};
  // Each of several captures is mostly in order.
  if (auto stretches = ordered_stretches(order); !stretches.empty()) {
    merge_stretches(order, std::move(stretches));
    return order;
  }
  constexpr size_t kWorthAThread = 1UL << 16U;
  if (order.size() < kWorthAThread) {
    std::sort(order.begin(), order.end(), before);
    return order;
  }
  const auto middle = order.begin() + static_cast<std::ptrdiff_t>(order.size() / 2);
  std::nth_element(order.begin(), middle, order.end(), before);
  auto upper = std::async(std::launch::async, [&] { std::sort(middle, order.end(), before); });
  std::sort(order.begin(), middle, before);
  upper.get();
  return order;
}

template <class Table>
void permute(Table& table, const std::vector<Row>& order) {
  each_column(table, [&](auto& column) {
    if (column.empty()) return;
    std::decay_t<decltype(column)> ordered(column.size());
    for (size_t i = 0; i < order.size(); ++i) ordered[i] = column[order[i].row];
    column.swap(ordered);
  });
}

// Captures that lack an optional column may follow one that has it.
template <class Table>
void complete_columns(Table& table) {
  each_column(table, [&](auto& column) {
    if (!column.empty()) column.resize(table.size());
  });
}

template <class Table>
void order_table(Table& table) {
  complete_columns(table);
  if (std::is_sorted(table.start.begin(), table.start.end())) return;
  permute(table, order_of(table.start));
}

// The values of one metric on one device.
struct Series {
  DeviceId device;
  MetricId metric;

  friend auto operator<=>(const Series&, const Series&) = default;
  [[nodiscard]] size_t hash() const { return hash_mix(device.value, metric.value); }
};

// The first row of each series among the ordered rows, by its index in `series`.
std::vector<size_t> first_rows(const std::vector<Series>& series, std::vector<size_t> counts) {
  std::vector<uint32_t> by_series(series.size());
  std::iota(by_series.begin(), by_series.end(), 0U);
  std::sort(by_series.begin(), by_series.end(),
            [&](uint32_t a, uint32_t b) { return series[a] < series[b]; });
  size_t first = 0;
  for (const uint32_t each : by_series) first += std::exchange(counts[each], first);
  return counts;
}

// Samples arrive almost in time order: within each series, little is left to sort.
std::vector<Row> order_of(const CounterTable& counters) {
  using SeriesId = Id<struct SeriesKind>;
  Interner<SeriesId, Series> series;
  std::vector<SeriesId> of_row(counters.size());
  std::vector<size_t> counts;
  for (size_t i = 0; i < counters.size(); ++i) {
    of_row[i] = series.intern({counters.device[i], counters.metric[i]});
    counts.resize(series.size());
    ++counts[of_row[i].index()];
  }
  const std::vector<size_t> first = first_rows(series.values(), counts);
  std::vector<size_t> next = first;
  std::vector<Row> order(counters.size());
  for (size_t i = 0; i < counters.size(); ++i) {
    order[next[of_row[i].index()]++] = {counters.start[i], static_cast<uint32_t>(i)};
  }
  for (size_t i = 0; i < first.size(); ++i) {
    const auto begin = order.begin() + static_cast<std::ptrdiff_t>(first[i]);
    const auto end = order.begin() + static_cast<std::ptrdiff_t>(next[i]);
    if (!std::is_sorted(begin, end, before)) std::sort(begin, end, before);
  }
  return order;
}

void order_tracing(Trace& trace) {
  TracingTable& tracing_changes = trace.tracing_changes;
  std::vector<Row> order(tracing_changes.size());
  for (size_t i = 0; i < order.size(); ++i) {
    order[i] = {tracing_changes.time[i], static_cast<uint32_t>(i)};
  }
  std::sort(order.begin(), order.end(), [&](const Row& a, const Row& b) {
    const ProcessId process = tracing_changes.process[a.row];
    const ProcessId other = tracing_changes.process[b.row];
    return process != other ? process < other : before(a, b);
  });
  permute(tracing_changes, order);
}

// Rows with the same time keep their order.
template <class Table>
void order_by_time(Table& table) {
  std::vector<Row> order(table.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = {table.time[i], static_cast<uint32_t>(i)};
  std::sort(order.begin(), order.end(), before);
  permute(table, order);
}

}  // namespace

void order_by_start(Trace& trace) {
  order_table(trace.kernels);
  order_table(trace.memory_operations);
  order_table(trace.graph_replays);
  complete_columns(trace.operators);
  permute(trace.counters, order_of(trace.counters));
  order_tracing(trace);
  order_by_time(trace.memory_events);
  order_by_time(trace.memory_readings);
  order_by_time(trace.tensor_memory);
}

}  // namespace llmprof::trace
