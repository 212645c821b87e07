#include "analysis/tracing/tracing_periods.h"

#include <algorithm>

namespace llmprof::analysis {
namespace {

using Period = TracingPeriods::Period;

// Rows of the collection table by process, in order of time.
std::vector<std::vector<size_t>> rows_by_process(const trace::Trace& trace) {
  const trace::CollectionTable& table = trace.collection;
  std::vector<std::vector<size_t>> rows(trace.processes.size());
  for (size_t i = 0; i < table.size(); ++i) {
    if (table.process[i].valid()) rows[table.process[i].index()].push_back(i);
  }
  for (std::vector<size_t>& of_process : rows) {
    std::stable_sort(of_process.begin(), of_process.end(),
                     [&](size_t a, size_t b) { return table.time[a] < table.time[b]; });
  }
  return rows;
}

std::vector<Period> untraced_periods(const trace::CollectionTable& table,
                                     const std::vector<size_t>& rows) {
  const auto is_tracing = [&](size_t row) {
    return table.state[row] == trace::CollectionState::tracing;
  };
  if (std::none_of(rows.begin(), rows.end(), is_tracing)) return {};
  // Armed from the start means before the first CUDA call: nothing can have
  // been missed.
  const bool from_start = is_tracing(rows.front()) &&
                          table.reason[rows.front()] == trace::CollectionReason::program_start;
  std::vector<Period> periods;
  bool traced = from_start;
  Nanoseconds since = INT64_MIN;
  for (const size_t row : rows) {
    if (is_tracing(row) == traced) continue;
    if (!traced && table.time[row] > since) periods.push_back({since, table.time[row]});
    traced = !traced;
    since = table.time[row];
  }
  if (!traced) periods.push_back({since, INT64_MAX});
  return periods;
}

}  // namespace

TracingPeriods::TracingPeriods(const trace::Trace& trace) : by_process_(trace.processes.size()) {
  if (trace.collection.size() == 0) return;
  const std::vector<std::vector<size_t>> rows = rows_by_process(trace);
  for (size_t i = 0; i < rows.size(); ++i) {
    by_process_[i] = untraced_periods(trace.collection, rows[i]);
    any_ = any_ || !by_process_[i].empty();
  }
}

bool TracingPeriods::traced_at(trace::ProcessId process, Nanoseconds time) const {
  if (!process.valid()) return true;
  const std::vector<Period>& periods = by_process_[process.index()];
  const auto behind = std::ranges::upper_bound(periods, time, {}, &Period::start);
  return behind == periods.begin() || std::prev(behind)->end <= time;
}

}  // namespace llmprof::analysis
