#include "exports/clocks/own_axes.h"

#include <algorithm>
#include <filesystem>
#include <numeric>

namespace llmprof::exports {
namespace {

constexpr uint64_t kLongestPause = 600'000'000'000;  // ns between captures of one run
constexpr size_t kNoCapture = trace::CaptureId::kNone;

// The capture that a row was read from, by whose it is.
size_t capture_of(const trace::Trace& trace, trace::ProcessId process) {
  return process.valid() ? trace.processes[process.index()].capture.value : kNoCapture;
}
size_t capture_of(const trace::Trace& trace, trace::DeviceId device) {
  return device.valid() ? trace.devices[device.index()].capture.value : kNoCapture;
}
size_t capture_of(const trace::Trace& trace, trace::ThreadId thread) {
  return thread.valid() ? capture_of(trace, trace.threads[thread.index()].process) : kNoCapture;
}
// Of a queue or an instance of a stage.
size_t capture_of(const trace::Trace& trace, const auto& on) {
  return on.process.valid() ? capture_of(trace, on.process) : capture_of(trace, on.device);
}
size_t capture_of(const trace::Trace& trace, trace::QueueId queue) {
  return capture_of(trace, trace.queues[queue]);
}

// Calls visit(whose, start, end) for everything that an export shows, with the stored times.
template <class Trace, class Stages, class Visit>
void each_time(Trace& trace, Stages& stages, const Visit& visit) {
  const auto rows = [&](auto& table, const auto& owners) {
    for (size_t i = 0; i < table.size(); ++i) visit(owners[i], table.start[i], table.end[i]);
  };
  rows(trace.kernels, trace.kernels.queue);
  rows(trace.memory_operations, trace.memory_operations.queue);
  rows(trace.graph_replays, trace.graph_replays.queue);
  rows(trace.launches, trace.launches.thread);
  rows(trace.ranges, trace.ranges.thread);
  rows(trace.operators, trace.operators.thread);
  rows(trace.counters, trace.counters.device);
  for (auto& instance : stages.instances) visit(instance, instance.start, instance.end);
  for (auto& step : stages.steps) {
    visit(stages.instances[step.instance.index()], step.start, step.end);
  }
}

// Times in a damaged capture may be further apart than Nanoseconds can hold.
uint64_t length(Nanoseconds from, Nanoseconds to) {
  return static_cast<uint64_t>(to) - static_cast<uint64_t>(from);
}

std::vector<TimeSpan> recorded_times(const ExportSource& source) {
  std::vector<TimeSpan> times(source.trace.captures.size());
  each_time(source.trace, source.results.stages,
            [&](const auto& whose, Nanoseconds start, Nanoseconds end) {
              const size_t capture = capture_of(source.trace, whose);
              if (capture != kNoCapture) times[capture].add(start, end);
            });
  const trace::MemoryReadingTable& readings = source.trace.memory_readings;
  for (size_t row = 0; row < readings.size(); ++row) {
    const size_t capture = capture_of(source.trace, readings.device[row]);
    if (capture != kNoCapture) times[capture].add(readings.time[row], readings.time[row]);
  }
  return times;
}

uint64_t apart(Nanoseconds a, Nanoseconds b) { return a < b ? length(a, b) : length(b, a); }

// Compares the clocks' names, otherwise when they were at 0: equal for captures of one clock, and
// close for captures of one run that each count from their own start.
bool may_be_one_clock(const trace::Capture& a, const trace::Capture& b) {
  if (!a.clock_domain.empty() && !b.clock_domain.empty()) return a.clock_domain == b.clock_domain;
  if (a.wall_clock_ns && b.wall_clock_ns) {
    return apart(*a.wall_clock_ns, *b.wall_clock_ns) <= kLongestPause;
  }
  return true;
}

bool share_an_axis(const trace::Trace& trace, const std::vector<TimeSpan>& times, size_t a,
                   size_t b) {
  if (!may_be_one_clock(trace.captures[a], trace.captures[b])) return false;
  const Nanoseconds later = std::max(times[a].first, times[b].first);
  const Nanoseconds earlier_end = std::min(times[a].last, times[b].last);
  return later <= earlier_end || length(earlier_end, later) <= kLongestPause;
}

// By capture: the first capture of its group.
std::vector<size_t> groups_of(const trace::Trace& trace, const std::vector<TimeSpan>& times) {
  std::vector<size_t> group(times.size());
  std::iota(group.begin(), group.end(), size_t{0});
  for (size_t a = 0; a < times.size(); ++a) {
    for (size_t b = a + 1; b < times.size(); ++b) {
      if (!times[a].any() || !times[b].any() || group[a] == group[b]) continue;
      if (!share_an_axis(trace, times, a, b)) continue;
      const auto [low, high] = std::minmax(group[a], group[b]);
      std::ranges::replace(group, size_t{high}, size_t{low});
    }
  }
  return group;
}

}  // namespace

// A range that was never closed has no end.
void TimeSpan::add(Nanoseconds start, Nanoseconds end) {
  first = std::min(first, start);
  last = std::max({last, start, end == trace::kOpenEnd ? start : end});
}

TimeSpan recorded_span(const trace::Trace& trace, const analysis::Stages& stages) {
  TimeSpan span;
  each_time(trace, stages, [&](const auto& /*whose*/, Nanoseconds start, Nanoseconds end) {
    span.add(start, end);
  });
  return span;
}

std::optional<OwnAxes> on_own_axes(const ExportSources& sources) {
  const ExportSource& source = sources.front();
  if (!source.rank.empty() || source.trace.captures.size() < 2) return std::nullopt;
  const std::vector<TimeSpan> times = recorded_times(source);
  const std::vector<size_t> group = groups_of(source.trace, times);
  std::vector<ClockSpan> clocks;
  std::vector<TimeSpan> spans(times.size());  // by the group's first capture
  for (size_t first = 0; first < times.size(); ++first) {
    if (group[first] != first || !times[first].any()) continue;
    ClockSpan clock;
    for (size_t i = first; i < times.size(); ++i) {
      if (group[i] != first) continue;
      clock.add(times[i].first, times[i].last);
      const std::filesystem::path path = source.trace.captures[i].path;
      clock.label += (clock.label.empty() ? "" : ", ") + path.filename().string();
    }
    spans[first] = static_cast<const TimeSpan&>(clock);
    clocks.push_back(std::move(clock));
  }
  const bool damaged = std::ranges::any_of(clocks, [](const ClockSpan& clock) {
    return length(clock.first, clock.last) > static_cast<uint64_t>(INT64_MAX);
  });
  if (clocks.size() < 2 || damaged) return std::nullopt;
  OwnAxes own{source.trace, source.results, std::move(clocks)};
  each_time(own.trace, own.results.stages,
            [&](const auto& whose, Nanoseconds& start, Nanoseconds& end) {
              const size_t capture = capture_of(own.trace, whose);
              if (capture == kNoCapture) return;
              const TimeSpan& span = spans[group[capture]];
              // A range that was never closed ends with the last time recorded on its axis.
              end = (end == trace::kOpenEnd ? span.last : end) - span.first;
              start -= span.first;
            });
  trace::MemoryReadingTable& readings = own.trace.memory_readings;
  for (size_t row = 0; row < readings.size(); ++row) {
    const size_t capture = capture_of(own.trace, readings.device[row]);
    if (capture != kNoCapture) readings.time[row] -= spans[group[capture]].first;
  }
  return own;
}

}  // namespace llmprof::exports
