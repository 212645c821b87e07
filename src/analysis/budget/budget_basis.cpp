#include "analysis/budget/budget_basis.h"

#include <algorithm>

#include "analysis/budget/gpu_timeline.h"

namespace llmprof::analysis {

void CoveredTime::add(Nanoseconds start, Nanoseconds end) {
  if (end <= start) return;
  if (!intervals_.empty() && start <= last_end_) {
    last_end_ = std::max(last_end_, end);
    return;
  }
  Nanoseconds covered = 0;
  if (!intervals_.empty()) {
    const Interval& last = intervals_.back();
    covered = last.covered_before + last_end_ - last.start;
  }
  intervals_.push_back({start, covered});
  last_end_ = end;
}

Nanoseconds CoveredTime::end_of(size_t row) const {
  if (row + 1 == intervals_.size()) return last_end_;
  const Interval& interval = intervals_[row];
  return interval.start + intervals_[row + 1].covered_before - interval.covered_before;
}

size_t CoveredTime::started(Nanoseconds time, size_t place) const {
  return gallop(place, intervals_.size(), [&](size_t row) { return intervals_[row].start < time; });
}

Nanoseconds CoveredTime::covered_until(Nanoseconds time, size_t started_before) const {
  if (started_before == 0) return 0;
  const Interval& last = intervals_[started_before - 1];
  return last.covered_before + std::min(time, end_of(started_before - 1)) - last.start;
}

Nanoseconds CoveredTime::within(Nanoseconds from, Nanoseconds to, size_t& place) const {
  if (to <= from) return 0;
  place = started(from, place);
  const Nanoseconds skipped = covered_until(from, place);
  // Most questions are about a gap, in which no interval starts.
  if (place < intervals_.size() && intervals_[place].start < to) place = started(to, place);
  return covered_until(to, place) - skipped;
}

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

BudgetBasis::BudgetBasis(const trace::Trace& trace) : busy(busy_devices(trace)), calls(trace) {}

}  // namespace llmprof::analysis
