#include "analysis/unwatched/detached_periods.h"

#include <algorithm>

namespace llmprof::analysis {

std::vector<DetachedPeriod> detached_periods(const trace::Trace& trace, trace::ProcessId process) {
  const trace::CollectionTable& table = trace.collection;
  std::vector<size_t> rows;
  bool traced = false;
  for (size_t i = 0; i < table.size(); ++i) {
    if (table.process[i] != process) continue;
    rows.push_back(i);
    traced = traced || table.state[i] == trace::CollectionState::tracing;
  }
  if (!traced) return {};
  std::stable_sort(rows.begin(), rows.end(),
                   [&](size_t a, size_t b) { return table.time[a] < table.time[b]; });
  std::vector<DetachedPeriod> periods;
  Nanoseconds since = INT64_MIN;  // detached since then
  bool detached = true;
  for (const size_t row : rows) {
    // What the change itself took is not the program's own time.
    if (detached && table.time[row] - table.cost[row] > since) {
      periods.push_back({since, table.time[row] - table.cost[row]});
    }
    detached = table.state[row] == trace::CollectionState::detached &&
               table.reason[row] != trace::CollectionReason::process_end;
    since = table.time[row];
  }
  if (detached) periods.push_back({since, trace::kOpenEnd});
  return periods;
}

}  // namespace llmprof::analysis
