#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "analysis/counters/counter_series.h"
#include "base/units.h"
#include "exports/timeline/parts.h"

namespace llmprof::exports {
namespace {

using analysis::CounterRole;

struct Shown {
  std::string_view label;
  std::string_view unit;
  bool rate = false;  // samples are byte counts, shown as rates: bytes per ns are GB/s
  double scale = 1;
};

// Omits what a line cannot show: counters that only rise, and bit masks.
constexpr std::array<std::pair<CounterRole, Shown>, 8> kOfRoles = {{
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

std::optional<Shown> shown(const trace::Trace& trace, const trace::Metric& metric) {
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
  if (unit == "byte") return Shown{label, "GB/s", true};
  if (unit == "Hz") return Shown{label, "MHz", false, 1 / kMega};
  return Shown{label, unit};
}

}  // namespace

void add_counter_rows(const ExportSource& source, Draft& draft) {
  const trace::CounterTable& counters = source.trace.counters;
  Table& table = draft.table("samples", {{"time", Coding::sdelta}, {"value", Coding::f32}});
  const auto put = [&](Nanoseconds at, double number) {
    table.add(draft.at(at), static_cast<float>(number));
    ++table.rows;
  };
  each_counter(counters, [&](size_t first, size_t end) {
    const auto described = shown(source.trace, source.trace.metrics[counters.metric[first]]);
    if (!described) return;
    Track track;
    track.first = table.rows;
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
    track.kind = "counter";
    track.table = "samples";
    track.label = described->label;
    track.unit = described->unit;
    track.max = highest;
    track.group = group_of(source, counters.device[first]);
    track.device = device_of(source, counters.device[first]);
    track.id = fmt::format("{}/{}", track.group, described->label);
    draft.add_track(std::move(track));
  });
}

}  // namespace llmprof::exports
