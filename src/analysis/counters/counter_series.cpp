#include "analysis/counters/counter_series.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/units.h"

namespace llmprof::analysis {
namespace {

// Prefixes and suffixes differ between chips: a counter has the role if its name contains `part`
// and its unit matches.
struct CounterName {
  std::string_view part;
  std::string_view unit;
  CounterRole role;
};
constexpr std::array kCounterNames = {
    CounterName{"dram__bytes_read.sum", "byte", CounterRole::dram_read},
    CounterName{"dram__bytes_write.sum", "byte", CounterRole::dram_write},
    CounterName{"pipe_tensor", "%", CounterRole::tensor_active},
    CounterName{"sm__cycles_active", "%", CounterRole::sm_active},
    CounterName{"sm_clock", "MHz", CounterRole::sm_clock},
    CounterName{"memory_clock", "MHz", CounterRole::memory_clock},
    CounterName{"power", "W", CounterRole::power},
    CounterName{"temperature", "C", CounterRole::temperature},
    CounterName{"energy", "J", CounterRole::energy},
    CounterName{"throttle_reasons", "", CounterRole::throttle_reasons},
};

using profile::ClockLimit;
using Sample = CounterSeries::Sample;

bool before(const Sample& a, const Sample& b) {
  return a.start != b.start ? a.start < b.start : a.end < b.end;
}

constexpr double kMostOfStage = 0.75;  // least share of an interval in the stage
constexpr double kEnough = 0.5;        // least share of the stage in such intervals

using Windows = std::vector<std::pair<Nanoseconds, Nanoseconds>>;

Nanoseconds inside(const Windows& windows, Nanoseconds from, Nanoseconds to) {
  auto next =
      std::lower_bound(windows.begin(), windows.end(), from,
                       [](const auto& window, Nanoseconds at) { return window.second < at; });
  Nanoseconds time = 0;
  for (; next != windows.end() && next->first < to; ++next) {
    time += std::max<Nanoseconds>(0, std::min(next->second, to) - std::max(next->first, from));
  }
  return time;
}

}  // namespace

std::optional<CounterRole> counter_role(std::string_view name, std::string_view unit) {
  for (const CounterName& known : kCounterNames) {
    const bool unit_fits = known.unit.empty() || known.unit == unit;
    if (unit_fits && name.find(known.part) != std::string_view::npos) return known.role;
  }
  return std::nullopt;
}

std::vector<ClockLimit> clock_limits(uint64_t mask) {
  constexpr auto kKnown = static_cast<size_t>(ClockLimit::others);
  std::vector<ClockLimit> found;
  for (size_t bit = 0; bit < kKnown; ++bit) {
    if ((mask >> bit & 1U) != 0) found.push_back(static_cast<ClockLimit>(bit));
  }
  if (mask >> kKnown != 0) found.push_back(ClockLimit::others);
  return found;
}

bool is_slowing(ClockLimit limit) {
  using enum ClockLimit;
  return limit == power_cap || limit == hardware || limit == thermal_software ||
         limit == thermal_hardware || limit == power_brake;
}

void CounterSeries::put_in_order() {
  if (!std::ranges::is_sorted(samples_, before)) {
    std::ranges::stable_sort(samples_, before);
  }
}

size_t CounterSeries::first_ending_after(Nanoseconds time) const {
  // Samples of one series do not overlap, so their ends are ordered too.
  const auto found =
      std::lower_bound(samples_.begin(), samples_.end(), time,
                       [](const Sample& sample, Nanoseconds at) { return sample.end < at; });
  return static_cast<size_t>(found - samples_.begin());
}

CounterSeries::Share CounterSeries::over(Nanoseconds from, Nanoseconds to) const {
  Share share;
  for (size_t i = first_ending_after(from); i < samples_.size() && samples_[i].start < to; ++i) {
    const Sample& sample = samples_[i];
    const Nanoseconds inside = std::min(sample.end, to) - std::max(sample.start, from);
    if (inside <= 0) continue;
    const auto time = static_cast<double>(inside);
    share.sum += sample.value * time / static_cast<double>(sample.end - sample.start);
    share.time_weighted += sample.value * time;
    share.covered += inside;
  }
  return share;
}

std::vector<DeviceCounters> counters_by_device(const trace::Trace& trace) {
  std::vector<DeviceCounters> devices(trace.devices.size());
  const trace::CounterTable& table = trace.counters;
  std::vector<std::optional<CounterRole>> roles;
  for (const trace::Metric& metric : trace.metrics.values()) {
    roles.push_back(counter_role(trace.strings[metric.name],
                                 metric.unit.valid() ? trace.strings[metric.unit] : ""));
  }
  for (size_t i = 0; i < table.size(); ++i) {
    const std::optional<CounterRole> role = roles[table.metric[i].index()];
    if (!role || !table.device[i].valid() || !std::isfinite(table.value[i])) continue;
    devices[table.device[i].index()][static_cast<size_t>(*role)].add(
        {table.start[i], std::max(table.start[i], table.end[i]), table.value[i]});
  }
  for (DeviceCounters& device : devices) {
    for (CounterSeries& series : device) series.put_in_order();
  }
  return devices;
}

void StageEnergy::add(const DeviceCounters& device, const Windows& windows) {
  for (const auto& [start, end] : windows) wall_ += static_cast<double>(end - start);
  const CounterSeries& energy = series_of(device, CounterRole::energy);
  const bool counted = !energy.empty();
  const CounterSeries& readings = counted ? energy : series_of(device, CounterRole::power);
  by_power_ = by_power_ || !counted;
  const auto& samples = readings.samples();
  for (size_t i = 1; i < samples.size(); ++i) {
    const Nanoseconds from = samples[i - 1].start;
    const Nanoseconds to = samples[i].start;
    const auto own = static_cast<double>(inside(windows, from, to));
    const auto length = static_cast<double>(to - from);
    if (own <= 0) continue;
    reading_time_ += length;
    ++readings_;
    const double used =
        counted ? samples[i].value - samples[i - 1].value
                : (samples[i].value + samples[i - 1].value) / 2 * length / kNanosecondsPerSecond;
    if (own < kMostOfStage * length || used < 0) continue;
    joules_ += used;
    between_ += length;
    covered_ += own;
  }
}

std::optional<double> StageEnergy::mean_power() const {
  if (between_ <= 0 || covered_ < kEnough * wall_) return std::nullopt;
  return joules_ / (between_ / kNanosecondsPerSecond);
}

profile::Reasons StageEnergy::why_not() const {
  if (readings_ <= 0 || mean_power()) return {};
  profile::FindingValues values;
  values.add("time_between_readings", profile::to_milliseconds(reading_time_ / readings_));
  return {make_reason(profile::ReasonKind::sensors_read_rarely, values)};
}

}  // namespace llmprof::analysis
