#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analysis/ranking/kernels.h"
#include "exports/clocks/own_axes.h"
#include "exports/perfetto/tracks.h"

namespace llmprof::exports {
namespace {

// Known only for a single capture.
std::optional<int64_t> wall_clock_of(const trace::Trace& trace) {
  if (trace.captures.size() != 1 || !trace.captures.front().wall_clock_ns) return std::nullopt;
  return trace.captures.front().wall_clock_ns;
}

std::string device_name(const trace::Trace& trace, trace::DeviceId device) {
  const std::string label = analysis::device_label(trace, device);
  const std::string& name = trace.devices[device.index()].name;
  return name.empty() ? label : fmt::format("{}: {}", label, name);
}

bool is_used(const trace::Trace& trace, trace::DeviceId device) {
  const auto& queues = trace.queues.values();
  const auto& counters = trace.counters.device;
  return std::ranges::find(queues, device, &trace::Queue::device) != queues.end() ||
         std::ranges::find(counters, device) != counters.end();
}

bool any_instance_on(const analysis::Stages& stages, trace::DeviceId device) {
  return std::ranges::find(stages.instances, device, &analysis::StageInstance::device) !=
         stages.instances.end();
}

// GPUs and threads of one source, until `last` on its own clock. Without a rank's process, each GPU
// is shown as a process.
void write_source(const ExportSource& source, Nanoseconds last, uint64_t first_flow,
                  const TraceFile::Process* rank, MeasuredNumbers& numbers, TraceFile& file) {
  const trace::Trace& trace = source.trace;
  const WorkOfLaunches launched(trace, first_flow);
  const auto group = [&](std::string_view name) {
    return rank == nullptr ? file.process(name, 0).uuid : file.track(rank->uuid, name);
  };
  const WriteDevice write_streams = gpu_tracks(source, launched, file);
  uint32_t gpu_count = 0;
  for (size_t i = 0; i < trace.devices.size(); ++i) {
    const trace::DeviceId device(i);
    gpu_count = std::max(gpu_count, trace.devices[i].ordinal + 1);
    if (!is_used(trace, device)) continue;
    const TrackUuid track = group(device_name(trace, device));
    write_stage_tracks(source, device, track, file);
    write_streams(device, track);
    write_counter_tracks(trace, device, track, file);
    write_measured_kernels(source, device, numbers, file);
  }
  if (const trace::DeviceId none; any_instance_on(source.results.stages, none)) {
    write_stage_tracks(source, none, group("Without GPU work"), file);
  }
  write_cpu_tracks(source, launched, last, rank, file);
  numbers.first_gpu += gpu_count;
}

uint64_t pid_of(const trace::Trace& trace) {
  return trace.processes.size() == 1 ? trace.processes.front().pid : 0;
}

Result<std::string> trace_of(const ExportSources& sources) {
  const bool of_job = !sources.front().rank.empty();
  std::vector<TimeSpan> spans;
  Nanoseconds first = INT64_MAX;
  for (const ExportSource& source : sources) {
    const TimeSpan& span = spans.emplace_back(recorded_span(source.trace, source.results.stages));
    if (span.any()) first = std::min(first, source.clock.job_time(span.first));
  }
  if (first == INT64_MAX) {
    return fail_input(
        "no timeline to export: these captures hold totals or single measurements of kernels, "
        "not when they ran; record one with `llmprof run` or `nsys profile`");
  }
  if (first < 0 && !of_job) {
    return fail_input(
        "times before the capture's own beginning cannot be exported; record the program again");
  }
  // The job's clock is one rank's; times of other ranks may be earlier than its start.
  const Nanoseconds shift = first < 0 ? -first : 0;
  FileClock clock{first + shift};
  if (!of_job) clock.wall_clock = wall_clock_of(sources.front().trace);
  if (clock.wall_clock) *clock.wall_clock += first;
  TraceFile file(clock);
  MeasuredNumbers numbers;
  uint64_t first_flow = 1;
  for (size_t i = 0; i < sources.size(); ++i) {
    if (!spans[i].any()) continue;
    file.begin_source(sources[i].clock.later(shift));
    std::optional<TraceFile::Process> rank;
    if (of_job) rank = file.process(sources[i].rank, pid_of(sources[i].trace));
    write_source(sources[i], spans[i].last, first_flow, rank ? &*rank : nullptr, numbers, file);
    first_flow += sources[i].trace.launches.size();
  }
  return std::move(file).finish();
}

}  // namespace

WorkOfLaunches::WorkOfLaunches(const trace::Trace& trace, uint64_t first_flow)
    : trace_(trace), first_flow_(first_flow), first_(trace.launches.size()) {
  add(trace.kernels, WorkKind::kernel);
  add(trace.memory_operations, WorkKind::memory_operation);
  add(trace.graph_replays, WorkKind::graph_replay);
}

template <class Table>
void WorkOfLaunches::add(const Table& table, WorkKind kind) {
  for (size_t row = 0; row < table.launch.size(); ++row) {
    if (!table.launch[row].valid()) continue;
    First& first = first_[table.launch[row].index()];
    if (first.row != UINT32_MAX && first.start <= table.start[row]) continue;
    first = {table.start[row], static_cast<uint32_t>(row), kind};
  }
}

trace::LaunchRow WorkOfLaunches::launch_of(WorkKind kind, size_t row) const {
  if (kind == WorkKind::kernel) return trace_.kernels.launch[row];
  if (kind == WorkKind::memory_operation) return trace_.memory_operations.launch[row];
  return trace_.graph_replays.launch[row];
}

std::optional<uint64_t> WorkOfLaunches::flow_from(size_t launch) const {
  if (first_[launch].row == UINT32_MAX) return std::nullopt;
  return first_flow_ + launch;
}

std::optional<uint64_t> WorkOfLaunches::flow_to(WorkKind kind, size_t row) const {
  const trace::LaunchRow launch = launch_of(kind, row);
  if (!launch.valid()) return std::nullopt;
  const First& first = first_[launch.index()];
  if (first.kind != kind || first.row != row) return std::nullopt;
  return first_flow_ + launch.index();
}

Result<std::string> perfetto_trace(const ExportSources& sources,
                                   std::string_view /*tool_version*/) {
  const auto own = on_own_axes(sources);
  return trace_of(own ? ExportSources{{own->trace, own->results}} : sources);
}

}  // namespace llmprof::exports
