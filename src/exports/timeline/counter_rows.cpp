#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/counters/counter_series.h"
#include "base/units.h"
#include "exports/counter_samples.h"
#include "exports/timeline/parts.h"

namespace llmprof::exports {
namespace {

using analysis::CounterRole;

struct Shown {
  std::string label;
  std::string unit;
  bool rate = false;  // samples are sums of bytes: shown per time, bytes per ns being GB/s
  double scale = 1;
};

struct Label {
  std::string_view part;  // of the metric's name
  std::string_view label;
};
// What no figure of the reports is made of, and the collector samples where the GPU has it.
constexpr std::array<Label, 6> kLabels = {{
    {"gr__cycles_active", "graphics and compute engine active"},
    {"gpc__cycles_elapsed", "GPC clock"},
    {"sm__warps_active", "warps resident in SMs"},
    {"sm__inst_executed", "SM instructions issued"},
    {"pcie__read_bytes", "PCIe read"},
    {"pcie__write_bytes", "PCIe write"},
}};

Shown other_counter(const std::string& name, const std::string& unit) {
  const auto* const known = std::find_if(kLabels.begin(), kLabels.end(), [&](const Label& label) {
    return name.find(label.part) != std::string::npos;
  });
  const std::string label = known == kLabels.end() ? name : std::string(known->label);
  if (unit == "byte") return {label, "GB/s", true};
  if (unit == "Hz") return {label, "MHz", false, 1 / kMega};
  return {label, unit};
}

// None for what no line shows: a counter that only rises, bits.
std::optional<Shown> shown(const trace::Trace& trace, const trace::Metric& metric) {
  const std::string name(trace.strings[metric.name]);
  const std::string unit(trace.strings[metric.unit]);
  const auto role = analysis::counter_role(name, unit);
  if (!role) return other_counter(name, unit);
  switch (*role) {
    case CounterRole::dram_read:
      return Shown{"DRAM read", "GB/s", true};
    case CounterRole::dram_write:
      return Shown{"DRAM write", "GB/s", true};
    case CounterRole::sm_active:
      return Shown{"SMs active", "%"};
    case CounterRole::tensor_active:
      return Shown{"tensor cores active", "%"};
    case CounterRole::sm_clock:
      return Shown{"SM clock", "MHz"};
    case CounterRole::memory_clock:
      return Shown{"memory clock", "MHz"};
    case CounterRole::power:
      return Shown{"power", "W"};
    case CounterRole::temperature:
      return Shown{"temperature", "°C"};
    case CounterRole::energy:
    case CounterRole::throttle_reasons:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

void add_counter_rows(const PlacedSource& source, Draft& draft) {
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
