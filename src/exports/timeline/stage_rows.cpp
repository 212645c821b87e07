#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analysis/budget/gpu_timeline.h"
#include "exports/timeline/parts.h"

namespace llmprof::exports {
namespace {

constexpr uint8_t kWarmup = 1;

Track stage_track(const ExportSource& source, trace::DeviceId device, std::string_view table,
                  size_t first, size_t count) {
  Track track;
  track.kind = table;
  track.table = table;
  track.label = table;
  track.group = group_of(source, device);
  track.device = device_of(source, device);
  track.id = fmt::format("{}/{}", track.group, table);
  track.first = first;
  track.count = count;
  return track;
}

// Instances or steps by start, with a track for each device; rows without GPU work come last. Calls
// add(row, start, duration), and returns each row's place in the table.
template <class Row, class DeviceOf, class Add>
std::vector<uint32_t> add_by_device(const ExportSource& source, const std::vector<Row>& rows,
                                    const DeviceOf& device_of, const Add& add, Table& table,
                                    Draft& draft) {
  std::map<trace::DeviceId, std::vector<uint32_t>> devices;
  for (uint32_t row = 0; row < rows.size(); ++row) devices[device_of(rows[row])].push_back(row);
  std::vector<uint32_t> places(rows.size(), RowsOf::kNone);
  for (auto& [device, of_device] : devices) {
    std::ranges::stable_sort(of_device, {}, [&](uint32_t row) { return rows[row].start; });
    draft.add_track(stage_track(source, device, table.name, table.rows, of_device.size()));
    for (const uint32_t row : of_device) {
      add(row, draft.at(rows[row].start), draft.length(rows[row].start, rows[row].end));
      places[row] = static_cast<uint32_t>(table.rows++);
    }
  }
  return places;
}

void add_instances(const ExportSource& source, Draft& draft) {
  const analysis::Stages& stages = source.results.stages;
  const auto& instances = stages.instances;
  Table& table = draft.table("stages", {{"start", Coding::sdelta},
                                        {"duration", Coding::u},
                                        {"name", Coding::u},
                                        {"index", Coding::u},
                                        {"flags", Coding::u8}});
  std::vector<uint64_t> next(stages.stages.size(), 0);
  std::vector<uint64_t> place;  // within its stage
  place.reserve(instances.size());
  for (const analysis::StageInstance& instance : instances) place.push_back(next[instance.stage]++);
  draft.rows.instance = add_by_device(
      source, instances, [](const auto& instance) { return instance.device; },
      [&](uint32_t row, Nanoseconds start, uint64_t duration) {
        table.add(start, duration, draft.names.add(stages.stages[instances[row].stage].name),
                  place[row], instances[row].warmup ? kWarmup : 0);
      },
      table, draft);
}

void add_steps(const ExportSource& source, Draft& draft) {
  const analysis::Stages& stages = source.results.stages;
  Table& table = draft.table("steps", {{"start", Coding::sdelta},
                                       {"duration", Coding::u},
                                       {"name", Coding::u},
                                       {"index", Coding::u}});
  draft.rows.step = add_by_device(
      source, stages.steps,
      [&](const analysis::Step& step) { return stages.instances[step.instance.index()].device; },
      [&](uint32_t row, Nanoseconds start, uint64_t duration) {
        table.add(start, duration, draft.names.add(to_string(stages.steps[row].kind)), row);
      },
      table, draft);
}

using analysis::GpuWorkRow;

uint8_t cause_before(const analysis::IdleBefore& idle, const GpuWorkRow& work) {
  const std::vector<uint8_t>& causes = work.kind == analysis::GpuWorkKind::kernel ? idle.kernel
                                       : work.kind == analysis::GpuWorkKind::memory_operation
                                           ? idle.memory_operation
                                           : idle.graph_replay;
  return work.row < causes.size() ? causes[work.row] : analysis::IdleBefore::kNotIdle;
}

}  // namespace

void add_stage_rows(const ExportSource& source, Draft& draft) {
  add_instances(source, draft);
  add_steps(source, draft);
}

void add_layer_rows(const ExportSource& source, Draft& draft) {
  Table& table = draft.table(
      "layers", {{"start", Coding::sdelta}, {"duration", Coding::u}, {"name", Coding::u}});
  std::vector<uint32_t> names;  // by row of the layers
  names.reserve(source.results.layers.rows.size());
  for (const analysis::LayerRow& layer : source.results.layers.rows) {
    names.push_back(draft.names.add(layer.name));
  }
  for (const auto& [device, spans] : layer_spans(source)) {
    draft.add_track(stage_track(source, device, "layers", table.rows, spans.size()));
    table.rows += spans.size();
    for (const LayerSpan& span : spans) {
      table.add(draft.at(span.start), draft.length(span.start, span.end),
                names[span.layer.index()]);
    }
  }
}

void add_gap_summary(const ExportSource& source, Draft& draft) {
  const trace::Trace& trace = source.trace;
  const analysis::Stages& stages = source.results.stages;
  if (stages.instances.empty()) return;
  std::vector<Nanoseconds> busy_until(trace.devices.size(), INT64_MIN);
  analysis::each_gpu_work(trace, stages.owners, [&](const GpuWorkRow& work) {
    const trace::DeviceId device = trace.queues[work.queue].device;
    if (!device.valid()) return;
    Nanoseconds& until = busy_until[device.index()];
    const Nanoseconds from = until;
    until = std::max(until, work.end);
    const uint8_t cause = cause_before(source.results.idle_before, work);
    if (cause == analysis::IdleBefore::kNotIdle || !work.instance.valid()) return;
    const analysis::StageInstance& instance = stages.instances[work.instance.index()];
    // Gaps that start before the instance do not belong to it.
    if (instance.warmup || from < instance.start) return;
    GapsOfCause& sum = draft.gaps[{stages.stages[instance.stage].name, cause}];
    const uint64_t length = draft.length(from, work.start);
    ++sum.count;
    sum.total += length;
    if (length <= sum.longest) return;
    sum.longest = length;
    sum.longest_start = draft.at(from);
  });
}

}  // namespace llmprof::exports
