#include "analysis/tracing/untraced_gpu_time.h"

#include <algorithm>

namespace llmprof::analysis {
namespace {

using Period = TracingPeriods::Period;
using Window = UntracedGpuTime::Window;

std::vector<Period> untraced_periods(const trace::TracingTable& table,
                                     const std::vector<size_t>& rows) {
  const auto is_tracing = [&](size_t row) {
    return table.state[row] == trace::TracingState::tracing;
  };
  if (std::ranges::none_of(rows, is_tracing)) return {};
  // Armed from the start means before the first CUDA call: nothing can be missing.
  const bool from_start =
      is_tracing(rows.front()) && table.reason[rows.front()] == trace::TracingReason::program_start;
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

// A free GPU starts work some microseconds after the launch; even large graphs start within this
// time.
constexpr Nanoseconds kLongBeforeRecording = 1'000'000;

// Calls visit(table, row, gpu) for all GPU work with known process and device.
template <class Visit>
void each_work_of_gpus(const trace::Trace& trace, const Visit& visit) {
  const auto each_row = [&](const auto& table) {
    for (size_t row = 0; row < table.size(); ++row) {
      const trace::Queue& queue = trace.queues[table.queue[row]];
      if (!queue.process.valid() || !queue.device.valid()) continue;
      visit(table, row, GpuOfProcess(queue.process, queue.device));
    }
  };
  each_row(trace.kernels);
  each_row(trace.memory_operations);
  each_row(trace.graph_replays);
}

trace::LaunchRow launch_of(const auto& table, size_t row) {
  return row < table.launch.size() ? table.launch[row] : trace::LaunchRow();
}

// Each GPU's longest wait that started before any of its recorded work had ended.
std::map<GpuOfProcess, Window> first_waits(const trace::Trace& trace) {
  struct FirstOfStream {
    Nanoseconds start = INT64_MAX;
    Nanoseconds launched = 0;  // when its launch had returned
    GpuOfProcess gpu;
  };
  std::vector<FirstOfStream> streams(trace.queues.size());
  each_work_of_gpus(trace, [&](const auto& table, size_t row, const GpuOfProcess& gpu) {
    FirstOfStream& stream = streams[table.queue[row].index()];
    if (table.start[row] >= stream.start) return;
    const trace::LaunchRow launch = launch_of(table, row);
    stream = {table.start[row],
              launch.valid() ? trace.launches.end[launch.index()] : table.start[row], gpu};
  });
  std::erase_if(streams, [](const FirstOfStream& each) { return each.start == INT64_MAX; });
  std::map<GpuOfProcess, Nanoseconds> first;
  for (const FirstOfStream& stream : streams) {
    Nanoseconds& earliest = first.try_emplace(stream.gpu, INT64_MAX).first->second;
    earliest = std::min(earliest, stream.start);
  }
  std::map<GpuOfProcess, Window> waits;
  for (const FirstOfStream& stream : streams) {
    if (stream.start - stream.launched < kLongBeforeRecording) continue;
    if (stream.launched > first[stream.gpu] + kLongBeforeRecording) continue;
    Window& longest = waits[stream.gpu];
    if (stream.start > longest.end) longest = {stream.launched, stream.start};
  }
  return waits;
}

// How much of a window this work covers in total.
Nanoseconds covered_by(std::vector<Window>& work, const Window& window) {
  std::ranges::sort(work, {}, &Window::start);
  Nanoseconds reached = window.start;
  Nanoseconds covered = 0;
  for (const Window& row : work) {
    const Nanoseconds end = std::min(row.end, window.end);
    if (end <= reached) continue;
    covered += end - std::max(reached, row.start);
    reached = end;
  }
  return covered;
}

// GPU work launched between two untraced periods, before the first or after the last.
struct RecordedGroup {
  Nanoseconds first_start = INT64_MAX;
  Nanoseconds last_end = INT64_MIN;
};
using Groups = std::vector<RecordedGroup>;  // one more than there are periods

// Work without a launch is ignored: it may start long after its launch.
std::map<GpuOfProcess, Groups> recorded_groups(const trace::Trace& trace,
                                               const TracingPeriods& periods) {
  std::map<GpuOfProcess, Groups> groups;
  std::vector<Groups*> of_queues(trace.queues.size(), nullptr);
  each_work_of_gpus(trace, [&](const auto& table, size_t row, const GpuOfProcess& gpu) {
    const trace::LaunchRow launch = launch_of(table, row);
    const std::vector<Period>& untraced = periods.untraced(gpu.first);
    if (!launch.valid() || untraced.empty()) return;
    const Nanoseconds launched = trace.launches.start[launch.index()];
    const auto behind = std::ranges::upper_bound(untraced, launched, {}, &Period::start);
    Groups*& of_queue = of_queues[table.queue[row].index()];
    if (of_queue == nullptr) {
      of_queue = &groups[gpu];
      of_queue->resize(untraced.size() + 1);
    }
    RecordedGroup& group = (*of_queue)[static_cast<size_t>(behind - untraced.begin())];
    group.first_start = std::min(group.first_start, table.start[row]);
    group.last_end = std::max(group.last_end, table.end[row]);
  });
  return groups;
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

std::vector<size_t> tracing_change_rows(const trace::TracingTable& table,
                                        trace::ProcessId process) {
  std::vector<size_t> rows;
  for (size_t i = 0; i < table.size(); ++i) {
    if (table.process[i] == process) rows.push_back(i);
  }
  std::ranges::stable_sort(rows, {}, [&](size_t row) { return table.time[row]; });
  return rows;
}

TracingPeriods::TracingPeriods(const trace::Trace& trace) : by_process_(trace.processes.size()) {
  if (trace.tracing_changes.size() == 0) return;
  for (size_t i = 0; i < by_process_.size(); ++i) {
    const auto rows = tracing_change_rows(trace.tracing_changes, trace::ProcessId(i));
    by_process_[i] = untraced_periods(trace.tracing_changes, rows);
    any_ = any_ || !by_process_[i].empty();
  }
}

bool TracingPeriods::traced_at(trace::ProcessId process, Nanoseconds time) const {
  if (!process.valid()) return true;
  const std::vector<Period>& periods = by_process_[process.index()];
  const auto behind = std::ranges::upper_bound(periods, time, {}, &Period::start);
  return behind == periods.begin() || std::prev(behind)->end <= time;
}

std::map<GpuOfProcess, Nanoseconds> unrecorded_beginnings(const trace::Trace& trace) {
  const std::map<GpuOfProcess, Window> waits = first_waits(trace);
  if (waits.empty()) return {};
  // Work recorded during the wait, on any stream and of any process, explains that part of it.
  std::map<trace::DeviceId, std::vector<Window>> recorded;
  each_work_of_gpus(trace, [&](const auto& table, size_t row, const GpuOfProcess& gpu) {
    const bool meanwhile = std::ranges::any_of(waits, [&](const auto& entry) {
      return entry.first.second == gpu.second && table.start[row] < entry.second.end &&
             table.end[row] > entry.second.start;
    });
    if (meanwhile) recorded[gpu.second].push_back({table.start[row], table.end[row]});
  });
  std::map<GpuOfProcess, Nanoseconds> found;
  for (const auto& [gpu, wait] : waits) {
    const Nanoseconds explained = covered_by(recorded[gpu.second], wait);
    if (2 * explained < wait.end - wait.start) found.emplace(gpu, wait.end);
  }
  return found;
}

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
  for (const auto& [owner, of_owner] : recorded_groups(trace, periods)) {
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
  auto next = std::ranges::upper_bound(all, from, {}, &Window::end);
  for (; next != all.end() && next->start < to; ++next) {
    found.push_back({std::max(next->start, from), std::min(next->end, to)});
  }
  return found;
}

}  // namespace llmprof::analysis
