#include "analysis/budget/calls_by_thread.h"

#include <algorithm>

namespace llmprof::analysis {

CallsByThread::CallsByThread(const trace::Trace& trace) : first_(trace.threads.size() + 1, 0) {
  const trace::LaunchTable& launches = trace.launches;
  for (const trace::ThreadId thread : launches.thread) {
    if (thread.valid()) ++first_[thread.index() + 1];
  }
  for (size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
  rows_.resize(first_.back());
  std::vector<uint32_t> next(first_.begin(), first_.end() - 1);
  for (size_t row = 0; row < launches.size(); ++row) {
    const trace::ThreadId thread = launches.thread[row];
    if (thread.valid()) rows_[next[thread.index()]++] = static_cast<uint32_t>(row);
  }

  const auto earlier = [&](uint32_t a, uint32_t b) {
    if (launches.start[a] != launches.start[b]) return launches.start[a] < launches.start[b];
    return launches.end[a] > launches.end[b];
  };
  back_.resize(rows_.size());
  for (size_t thread = 0; thread + 1 < first_.size(); ++thread) {
    const auto begin = rows_.begin() + first_[thread];
    const auto end = rows_.begin() + first_[thread + 1];
    if (!std::is_sorted(begin, end, earlier)) std::sort(begin, end, earlier);
    uint32_t around = first_[thread];
    Nanoseconds reached = INT64_MIN;
    for (uint32_t i = first_[thread]; i < first_[thread + 1]; ++i) {
      if (launches.start[rows_[i]] >= reached) around = i;
      reached = std::max(reached, launches.end[rows_[i]]);
      back_[i] = static_cast<uint8_t>(std::min<uint32_t>(i - around, kFarthestBack));
    }
  }
}

}  // namespace llmprof::analysis
