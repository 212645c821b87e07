#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "analysis/budget/gpu_timeline.h"
#include "analysis/counters/counter_series.h"
#include "base/units.h"
#include "exports/timeline/parts.h"

namespace llmprof::exports {
namespace {

constexpr uint8_t kWarmup = 1;

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
    Track track = device_track(source, device, profile::find_word<TrackKind>(table.name).value(),
                               table.name, table);
    track.count = of_device.size();
    draft.add_track(std::move(track));
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
  Table& table = draft.table("stages", "start:sdelta duration:u name:u index:u flags:u8");
  std::vector<uint64_t> next(stages.stages.size(), 0);
  std::vector<uint64_t> place;  // within its stage
  place.reserve(instances.size());
  for (const analysis::StageInstance& instance : instances) place.push_back(next[instance.stage]++);
  draft.rows.instance = add_by_device(
      source, instances, [](const auto& instance) { return instance.device; },
      [&](uint32_t row, Nanoseconds start, uint64_t duration) {
        table.add(start, duration,
                  draft.names.intern(stages.stages[instances[row].stage].name).value, place[row],
                  instances[row].warmup ? kWarmup : 0);
      },
      table, draft);
}

void add_steps(const ExportSource& source, Draft& draft) {
  const analysis::Stages& stages = source.results.stages;
  Table& table = draft.table("steps", "start:sdelta duration:u name:u index:u");
  draft.rows.step = add_by_device(
      source, stages.steps,
      [&](const analysis::Step& step) { return stages.instances[step.instance.index()].device; },
      [&](uint32_t row, Nanoseconds start, uint64_t duration) {
        table.add(start, duration, draft.names.intern(to_string(stages.steps[row].kind)).value,
                  row);
      },
      table, draft);
}

using analysis::GpuWorkRow;

using analysis::CounterRole;

struct CounterDisplay {
  std::string_view label;
  std::string_view unit;
  bool rate = false;  // samples are byte counts, shown as rates: bytes per ns are GB/s
  double scale = 1;
};

// Omits what a line cannot show: counters that only rise, and bit masks.
constexpr std::array<std::pair<CounterRole, CounterDisplay>, 8> kOfRoles = {{
    {CounterRole::dram_read, {"DRAM read", "GB/s", true}},
    {CounterRole::dram_write, {"DRAM write", "GB/s", true}},
    {CounterRole::sm_active, {"SMs active", "%"}},
    {CounterRole::tensor_active, {"tensor cores active", "%"}},
    {CounterRole::sm_clock, {"SM clock", "MHz"}},
    {CounterRole::memory_clock, {"memory clock", "MHz"}},
    {CounterRole::power, {"power", "W"}},
    {CounterRole::temperature, {"temperature", "°C"}},
}};
// Metrics that no report uses but the collector samples if the GPU has them, by a part of the
// metric's name.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kLabels = {{
    {"gr__cycles_active", "graphics and compute engine active"},
    {"gpc__cycles_elapsed", "GPC clock"},
    {"sm__warps_active", "warps resident in SMs"},
    {"sm__inst_executed", "SM instructions issued"},
    {"pcie__read_bytes", "PCIe read"},
    {"pcie__write_bytes", "PCIe write"},
}};

std::optional<CounterDisplay> shown(const trace::Trace& trace, const trace::Metric& metric) {
  const std::string_view name = trace.strings[metric.name];
  const std::string_view unit = trace.strings[metric.unit];
  if (const auto role = analysis::counter_role(name, unit)) {
    const auto known =
        std::ranges::find(kOfRoles, *role, [](const auto& row) { return row.first; });
    return known == kOfRoles.end() ? std::nullopt : std::optional(known->second);
  }
  const auto known = std::ranges::find_if(
      kLabels, [&](const auto& label) { return name.find(label.first) != std::string::npos; });
  const std::string_view label = known == kLabels.end() ? name : known->second;
  if (unit == "byte") return CounterDisplay{label, "GB/s", true};
  if (unit == "Hz") return CounterDisplay{label, "MHz", false, 1 / kMega};
  return CounterDisplay{label, unit};
}

}  // namespace

void add_stage_rows(const ExportSource& source, Draft& draft) {
  add_instances(source, draft);
  add_steps(source, draft);
}

void add_layer_rows(const ExportSource& source, Draft& draft) {
  Table& table = draft.table("layers", "start:sdelta duration:u name:u");
  std::vector<uint32_t> names;  // by row of the layers
  names.reserve(source.results.layers.rows.size());
  for (const profile::Layer& layer : source.results.layers.rows) {
    names.push_back(draft.names.intern(layer.name).value);
  }
  for (const auto& [device, spans] : layer_spans(source)) {
    Track track = device_track(source, device, profile::find_word<TrackKind>(table.name).value(),
                               table.name, table);
    track.count = spans.size();
    draft.add_track(std::move(track));
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
    const std::vector<uint8_t>& causes = owners_of(source, work.kind).idle_before;
    const uint8_t cause =
        work.row < causes.size() ? causes[work.row] : analysis::IdleBefore::kNotIdle;
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

void add_counter_rows(const ExportSource& source, Draft& draft) {
  const trace::CounterTable& counters = source.trace.counters;
  Table& table = draft.table("samples", "time:sdelta value:f32");
  const auto put = [&](Nanoseconds at, double number) {
    table.add(draft.at(at), static_cast<float>(number));
    ++table.rows;
  };
  each_counter(counters, [&](size_t first, size_t end) {
    const auto described = shown(source.trace, source.trace.metrics[counters.metric[first]]);
    if (!described) return;
    Track track =
        device_track(source, counters.device[first], TrackKind::counter, described->label, table);
    double highest = 0;
    for (size_t i = first; i < end; ++i) {
      const Nanoseconds length = counters.end[i] - counters.start[i];
      double number = counters.value[i] * described->scale;
      if (described->rate) number /= static_cast<double>(std::max<Nanoseconds>(1, length));
      if (!std::isfinite(number)) continue;
      highest = std::max(highest, number);
      put(counters.start[i], number);
      if (falls_to_zero(counters, i, end)) put(counters.end[i], 0);
    }
    track.count = table.rows - track.first;
    if (track.count == 0) return;
    track.unit = described->unit;
    track.max = highest;
    draft.add_track(std::move(track));
  });
}

}  // namespace llmprof::exports
