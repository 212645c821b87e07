#include "exports/perfetto/perfetto.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analysis/ranking/kernels.h"
#include "exports/perfetto/counter_tracks.h"
#include "exports/perfetto/cpu_tracks.h"
#include "exports/perfetto/gpu_tracks.h"
#include "exports/perfetto/measured_kernels.h"
#include "exports/perfetto/stage_tracks.h"

namespace llmprof::exports {
namespace {

struct Span {
  Nanoseconds first = INT64_MAX;
  Nanoseconds last = INT64_MIN;

  template <class Table>
  void add(const Table& table) {
    for (size_t i = 0; i < table.size(); ++i) {
      first = std::min(first, table.start[i]);
      if (table.end[i] != trace::kOpenEnd) last = std::max(last, table.end[i]);
      last = std::max(last, table.start[i]);
    }
  }
};

Span span_of(const trace::Trace& trace, const analysis::Stages& stages) {
  Span span;
  span.add(trace.kernels);
  span.add(trace.memory_operations);
  span.add(trace.graph_replays);
  span.add(trace.launches);
  span.add(trace.ranges);
  span.add(trace.operators);
  span.add(trace.counters);
  for (const analysis::StageInstance& instance : stages.instances) {
    span.first = std::min(span.first, instance.start);
  }
  for (const analysis::Step& step : stages.steps) span.first = std::min(span.first, step.start);
  return span;
}

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

}  // namespace

Result<std::string> perfetto_trace(const ExportSource& source) {
  const trace::Trace& trace = source.trace;
  const Span span = span_of(trace, source.results.stages);
  if (span.first > span.last) {
    return fail_input(
        "no timeline to export: these captures hold totals or single measurements of kernels, not "
        "when they ran; record one with `llmprof run` or `nsys profile`");
  }
  if (span.first < 0) {
    return fail_input(
        "times before the capture's own beginning cannot be exported; record the program again");
  }
  FileClock clock{span.first, wall_clock_of(trace)};
  if (clock.wall_clock) *clock.wall_clock += span.first;
  TraceFile file(clock);
  const KernelRows rows(trace, source.results.kernels.ranking);
  const WorkOfLaunches launched(trace);
  GpuTracks gpus(source, rows, launched, file);
  MeasuredKernels measured(source, rows, file);
  for (size_t i = 0; i < trace.devices.size(); ++i) {
    const trace::DeviceId device(i);
    if (!is_used(trace, device)) continue;
    const TrackUuid track = file.process(device_name(trace, device), 0).uuid;
    write_stage_tracks(source, device, track, file);
    gpus.write(device, track);
    write_counter_tracks(trace, device, track, file);
    measured.write(device);
  }
  if (const trace::DeviceId none; any_instance_on(source.results.stages, none)) {
    write_stage_tracks(source, none, file.process("Without GPU work", 0).uuid, file);
  }
  write_cpu_tracks(source, launched, span.last, file);
  return std::move(file).finish();
}

}  // namespace llmprof::exports
