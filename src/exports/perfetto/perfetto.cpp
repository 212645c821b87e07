#include <algorithm>
#include <utility>

#include "exports/clocks/own_axes.h"
#include "exports/perfetto/memory_track.h"
#include "exports/perfetto/tracks.h"

namespace llmprof::exports {
namespace {

// Requests and readings of memory may be earlier than the recorded work.
Nanoseconds first_besides_work(const ExportSources& sources) {
  Nanoseconds first = INT64_MAX;
  for (const ExportSource& source : sources) {
    const Nanoseconds own =
        std::min(first_sent(source), first_memory_reading(source.trace.memory_readings));
    if (own != INT64_MAX) first = std::min(first, source.clock.job_time(own));
  }
  return first;
}

Result<std::string> trace_of(const ExportSources& sources) {
  const bool of_job = !sources.front().rank.empty();
  std::vector<TimeSpan> spans;
  Nanoseconds first = INT64_MAX;
  for (const ExportSource& source : sources) {
    const TimeSpan& span = spans.emplace_back(recorded_span(source.trace, source.results.stages));
    if (span.any()) first = std::min(first, source.clock.job_time(span.first));
  }
  if (first != INT64_MAX) first = std::min(first, first_besides_work(sources));
  if (first == INT64_MAX) {
    return fail_input(
        "no timeline to export: these captures hold totals or single measurements of kernels, not "
        "when they ran; record one with `llmprof run` or `nsys profile`");
  }
  if (first < 0 && !of_job) {
    return fail_input(
        "times before the capture's own beginning cannot be exported; record the program again");
  }
  // The job's clock is one rank's; times of other ranks may be earlier than its start.
  const Nanoseconds shift = first < 0 ? -first : 0;
  FileClock clock{first + shift};
  const auto& captures = sources.front().trace.captures;
  if (!of_job && captures.size() == 1) clock.wall_clock = captures.front().wall_clock_ns;
  if (clock.wall_clock) *clock.wall_clock += first;
  TraceFile file(clock);
  MeasuredNumbers numbers;
  uint64_t first_flow = 1;
  for (size_t i = 0; i < sources.size(); ++i) {
    if (!spans[i].any()) continue;
    file.begin_source(sources[i].clock.later(shift));
    std::optional<TraceFile::Process> rank;
    const auto& processes = sources[i].trace.processes;
    const uint64_t pid = processes.size() == 1 ? processes.front().pid : 0;
    if (of_job) rank = file.process(sources[i].rank, pid);
    const WorkOfLaunches launched(sources[i], first_flow);
    first_flow += sources[i].trace.launches.size();
    const RequestTracks requests(sources[i], first_flow);
    first_flow = requests.next_flow();
    // Without a rank's process, each GPU is shown as a process.
    const auto add_group = [&](std::string_view name) {
      return rank ? file.track(rank->uuid, name) : file.process(name, 0).uuid;
    };
    requests.write(file);
    write_devices(sources[i], launched, requests, add_group, numbers, file);
    write_cpu_tracks(sources[i], launched, spans[i].last, rank ? &*rank : nullptr, file);
  }
  return std::move(file).finish();
}

}  // namespace

WorkOfLaunches::WorkOfLaunches(const ExportSource& source, uint64_t first_flow)
    : source_(source), first_flow_(first_flow), first_(source.trace.launches.size()) {
  add(source.trace.kernels, WorkKind::kernel);
  add(source.trace.memory_operations, WorkKind::memory_operation);
  add(source.trace.graph_replays, WorkKind::graph_replay);
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

std::optional<uint64_t> WorkOfLaunches::flow_from(size_t launch) const {
  if (first_[launch].row == UINT32_MAX) return std::nullopt;
  return first_flow_ + launch;
}

std::optional<uint64_t> WorkOfLaunches::flow_to(WorkKind kind, size_t row) const {
  const trace::LaunchRow launch = owners_of(source_, kind).launch[row];
  if (!launch.valid()) return std::nullopt;
  const First& first = first_[launch.index()];
  if (first.kind != kind || first.row != row) return std::nullopt;
  return first_flow_ + launch.index();
}

Result<ExportedText> perfetto_trace(const ExportSources& sources,
                                    std::string_view /*tool_version*/) {
  const auto own = on_own_axes(sources);
  return trace_of(own ? ExportSources{{own->trace, own->results}} : sources)
      .map([](std::string&& text) { return ExportedText{std::move(text), {}}; });
}

}  // namespace llmprof::exports
