#include "analysis/tracing/untraced_gpu_time.h"

#include <algorithm>

#include "analysis/tracing/tracing_periods.h"
#include "analysis/tracing/unrecorded_beginning.h"

namespace llmprof::analysis {
namespace {

using Period = TracingPeriods::Period;
using Window = UntracedGpuTime::Window;

// GPU work that was launched between two untraced periods, before the first or after the last.
struct RecordedGroup {
  Nanoseconds first_start = INT64_MAX;
  Nanoseconds last_end = INT64_MIN;
};
using Groups = std::vector<RecordedGroup>;  // one more than there are periods

// Work without a launch tells nothing: its own start may be long after it.
template <class Table>
void add_work(const trace::Trace& trace, const Table& table, const TracingPeriods& periods,
              std::map<std::pair<trace::ProcessId, trace::DeviceId>, Groups>& groups) {
  std::vector<Groups*> of_queues(trace.queues.size(), nullptr);
  for (size_t i = 0; i < table.size(); ++i) {
    if (i >= table.launch.size() || !table.launch[i].valid()) continue;
    const trace::Queue& queue = trace.queues[table.queue[i]];
    if (!queue.process.valid() || !queue.device.valid()) continue;
    const std::vector<Period>& untraced = periods.untraced(queue.process);
    if (untraced.empty()) continue;
    const Nanoseconds launched = trace.launches.start[table.launch[i].index()];
    const auto behind =
        std::upper_bound(untraced.begin(), untraced.end(), launched,
                         [](Nanoseconds at, const Period& period) { return at < period.start; });
    Groups*& of_queue = of_queues[table.queue[i].index()];
    if (of_queue == nullptr) {
      of_queue = &groups[{queue.process, queue.device}];
      of_queue->resize(untraced.size() + 1);
    }
    RecordedGroup& group = (*of_queue)[static_cast<size_t>(behind - untraced.begin())];
    group.first_start = std::min(group.first_start, table.start[i]);
    group.last_end = std::max(group.last_end, table.end[i]);
  }
}

std::vector<Window> windows_between(const std::vector<Period>& periods, const Groups& groups) {
  std::vector<Nanoseconds> next_start(groups.size(), INT64_MAX);  // of this group or a later one
  Nanoseconds next = INT64_MAX;
  for (size_t i = groups.size(); i-- > 0;) {
    next = std::min(next, groups[i].first_start);
    next_start[i] = next;
  }
  std::vector<Window> windows;
  Nanoseconds worked_until = INT64_MIN;
  for (size_t i = 0; i < periods.size(); ++i) {
    worked_until = std::max(worked_until, groups[i].last_end);
    Window window{std::max(periods[i].start, worked_until), next_start[i + 1]};
    if (!windows.empty()) window.start = std::max(window.start, windows.back().end);
    if (window.start < window.end) windows.push_back(window);
  }
  return windows;
}

}  // namespace

UntracedGpuTime::UntracedGpuTime(const trace::Trace& trace) {
  const TracingPeriods periods(trace);
  if (periods.any_untraced()) add_periods(trace, periods);
  for (const auto& [owner, end] : unrecorded_beginnings(trace)) {
    std::vector<Window>& windows = windows_[owner];
    if (!windows.empty() && windows.front().start < end) continue;  // known to be untraced
    windows.insert(windows.begin(), {kBeginning, end});
    first_ = kBeginning;
  }
}

void UntracedGpuTime::add_periods(const trace::Trace& trace, const TracingPeriods& periods) {
  std::map<std::pair<trace::ProcessId, trace::DeviceId>, Groups> groups;
  add_work(trace, trace.kernels, periods, groups);
  add_work(trace, trace.memory_operations, periods, groups);
  add_work(trace, trace.graph_replays, periods, groups);
  for (const auto& [owner, of_owner] : groups) {
    std::vector<Window> windows = windows_between(periods.untraced(owner.first), of_owner);
    if (windows.empty()) continue;
    first_ = std::min(first_, windows.front().start);
    windows_.emplace(owner, std::move(windows));
  }
}

std::optional<Nanoseconds> UntracedGpuTime::beginning(trace::ProcessId process,
                                                      trace::DeviceId device) const {
  const std::vector<Window>& all = of(process, device);
  if (all.empty() || all.front().start != kBeginning) return std::nullopt;
  return all.front().end;
}

const std::vector<Window>& UntracedGpuTime::of(trace::ProcessId process,
                                               trace::DeviceId device) const {
  static const std::vector<Window> none;
  const auto found = windows_.find({process, device});
  return found == windows_.end() ? none : found->second;
}

std::vector<Window> UntracedGpuTime::within(trace::ProcessId process, trace::DeviceId device,
                                            Nanoseconds from, Nanoseconds to) const {
  std::vector<Window> found;
  if (to <= first_) return found;
  const std::vector<Window>& all = of(process, device);
  auto next =
      std::upper_bound(all.begin(), all.end(), from,
                       [](Nanoseconds at, const Window& window) { return at < window.end; });
  for (; next != all.end() && next->start < to; ++next) {
    found.push_back({std::max(next->start, from), std::min(next->end, to)});
  }
  return found;
}

}  // namespace llmprof::analysis
