#include "exports/perfetto/perfetto.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analysis/ranking/kernels.h"
#include "exports/clocks/own_axes.h"
#include "exports/perfetto/measured_kernels.h"
#include "exports/perfetto/tracks.h"

namespace llmprof::exports {
namespace {

// Where all captures are on one clock.
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
  return std::any_of(queues.begin(), queues.end(),
                     [&](const trace::Queue& queue) { return queue.device == device; }) ||
         std::find(counters.begin(), counters.end(), device) != counters.end();
}

bool any_instance_on(const analysis::Stages& stages, trace::DeviceId device) {
  return std::any_of(
      stages.instances.begin(), stages.instances.end(),
      [&](const analysis::StageInstance& instance) { return instance.device == device; });
}

// GPUs and threads of one source. Without a rank's process, each GPU is shown as one.
class SourceWriter {
 public:
  SourceWriter(const PlacedSource& source, Nanoseconds last, uint64_t first_flow,
               const TraceFile::Process* rank, MeasuredNumbers& numbers, TraceFile& file)
      : source_(source),
        last_(last),
        rank_(rank),
        numbers_(numbers),
        file_(file),
        launched_(source.trace, first_flow) {}

  void write() {
    const trace::Trace& trace = source_.trace;
    const WriteDevice write_streams = gpu_tracks(source_, launched_, file_);
    uint32_t gpu_count = 0;
    for (size_t i = 0; i < trace.devices.size(); ++i) {
      const trace::DeviceId device(i);
      gpu_count = std::max(gpu_count, trace.devices[i].ordinal + 1);
      if (!is_used(trace, device)) continue;
      const TrackUuid track = group(device_name(trace, device));
      write_stage_tracks(source_, device, track, file_);
      write_streams(device, track);
      write_counter_tracks(trace, device, track, file_);
      write_measured_kernels(source_, device, numbers_, file_);
    }
    if (const trace::DeviceId none; any_instance_on(source_.results.stages, none)) {
      write_stage_tracks(source_, none, group("Without GPU work"), file_);
    }
    write_cpu_tracks(source_, launched_, last_, rank_, file_);
    numbers_.first_gpu += gpu_count;
  }

 private:
  TrackUuid group(std::string_view name) {
    return rank_ == nullptr ? file_.process(name, 0).uuid : file_.track(rank_->uuid, name);
  }

  const PlacedSource& source_;
  Nanoseconds last_;  // of the source's own times
  const TraceFile::Process* rank_;
  MeasuredNumbers& numbers_;
  TraceFile& file_;
  WorkOfLaunches launched_;
};

Error nothing_to_export() {
  return {ErrorKind::input,
          "no timeline to export: these captures hold totals or single measurements of kernels, "
          "not when they ran; record one with `llmprof run` or `nsys profile`"};
}

uint64_t pid_of(const trace::Trace& trace) {
  return trace.processes.size() == 1 ? trace.processes.front().pid : 0;
}

Result<std::string> one_axis_trace(const ExportSource& source) {
  const trace::Trace& trace = source.trace;
  const TimeSpan span = recorded_span(trace, source.results.stages);
  if (!span.any()) return fail_with(nothing_to_export());
  if (span.first < 0) {
    return fail_input(
        "times before the capture's own beginning cannot be exported; record the program again");
  }
  FileClock clock{span.first, wall_clock_of(trace)};
  if (clock.wall_clock) *clock.wall_clock += span.first;
  TraceFile file(clock);
  MeasuredNumbers numbers;
  const PlacedSource only = placed(source);
  SourceWriter(only, span.last, 1, nullptr, numbers, file).write();
  return std::move(file).finish();
}

}  // namespace

Result<std::string> perfetto_trace(const ExportSource& source) {
  const auto own = on_own_axes(source);
  return one_axis_trace(own ? ExportSource{own->trace, own->results, source.tool_version} : source);
}

Result<std::string> perfetto_trace(std::span<const RankSource> ranks) {
  std::vector<PlacedSource> sources;
  std::vector<TimeSpan> spans;
  Nanoseconds first = INT64_MAX;
  for (const RankSource& rank : ranks) {
    sources.push_back(placed(rank));
    const TimeSpan& span = spans.emplace_back(recorded_span(rank.trace, rank.results.stages));
    if (span.any()) first = std::min(first, sources.back().clock.job_time(span.first));
  }
  if (first == INT64_MAX) return fail_with(nothing_to_export());
  // The job's clock is one rank's, and another's times may lie before its beginning.
  const Nanoseconds shift = first < 0 ? -first : 0;
  TraceFile file(FileClock{first + shift, std::nullopt, {}});
  MeasuredNumbers numbers;
  uint64_t first_flow = 1;
  for (size_t i = 0; i < sources.size(); ++i) {
    if (!spans[i].any()) continue;
    file.begin_source(sources[i].clock.later(shift));
    const TraceFile::Process process = file.process(sources[i].rank, pid_of(sources[i].trace));
    SourceWriter(sources[i], spans[i].last, first_flow, &process, numbers, file).write();
    first_flow += sources[i].trace.launches.size();
  }
  return std::move(file).finish();
}

}  // namespace llmprof::exports
