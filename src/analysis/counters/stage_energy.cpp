#include "analysis/counters/counter_series.h"

#include <algorithm>

#include "base/units.h"

namespace llmprof::analysis {
namespace {

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
