#include "analysis/operators/launched_work.h"

#include <algorithm>

namespace llmprof::analysis {

WorkOfLaunches::WorkOfLaunches(const trace::Trace& trace) : by_thread_(trace.threads.size()) {
  std::vector<LaunchedWork> work(trace.launches.size());
  const auto add = [&](const auto& table, uint64_t kernels) {
    for (size_t i = 0; i < table.size(); ++i) {
      if (!table.launch[i].valid()) continue;
      work[table.launch[i].index()] += {table.end[i] - table.start[i], kernels};
    }
  };
  add(trace.kernels, 1);
  add(trace.memory_operations, 0);

  const auto has_work = [&](size_t row) { return work[row].kernels > 0 || work[row].time > 0; };
  std::vector<size_t> count(trace.threads.size(), 0);
  for (size_t row = 0; row < work.size(); ++row) {
    if (has_work(row)) ++count[trace.launches.thread[row].index()];
  }
  for (size_t thread = 0; thread < count.size(); ++thread)
    by_thread_[thread].reserve(count[thread]);
  for (size_t row = 0; row < work.size(); ++row) {
    if (!has_work(row)) continue;
    by_thread_[trace.launches.thread[row].index()].push_back(
        {trace.launches.start[row], work[row]});
  }
  const auto earlier = [](const Launch& a, const Launch& b) { return a.start < b.start; };
  for (auto& launches : by_thread_) {
    if (!std::is_sorted(launches.begin(), launches.end(), earlier)) {
      std::sort(launches.begin(), launches.end(), earlier);
    }
  }
}

}  // namespace llmprof::analysis
