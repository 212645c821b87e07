#include "analysis/operators/launched_work.h"

#include <algorithm>

namespace llmprof::analysis {

WorkOfLaunches::WorkOfLaunches(const trace::Trace& trace) : by_thread_(trace.threads.size()) {
  std::vector<LaunchedWork> work(trace.launches.size());
  const trace::KernelTable& kernels = trace.kernels;
  const trace::MemoryOperationTable& memory = trace.memory_operations;
  for (size_t i = 0; i < kernels.size(); ++i) {
    const Nanoseconds time = kernels.end[i] - kernels.start[i];
    if (!kernels.node_launch.empty() && kernels.node_launch[i].valid()) {
      LaunchedWork& captured = work[kernels.node_launch[i].index()];
      captured += {time, 1, captured.replays + 1};
    } else if (kernels.launch[i].valid()) {
      work[kernels.launch[i].index()] += {time, 1, 0};
    }
  }
  for (size_t i = 0; i < memory.size(); ++i) {
    if (memory.launch[i].valid()) {
      work[memory.launch[i].index()] += {memory.end[i] - memory.start[i], 0, 0};
    }
  }

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
