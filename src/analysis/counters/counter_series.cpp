#include "analysis/counters/counter_series.h"

#include <algorithm>
#include <cmath>

namespace llmprof::analysis {
namespace {

using Sample = CounterSeries::Sample;

bool before(const Sample& a, const Sample& b) {
  return a.start != b.start ? a.start < b.start : a.end < b.end;
}

}  // namespace

void CounterSeries::put_in_order() {
  if (!std::is_sorted(samples_.begin(), samples_.end(), before)) {
    std::stable_sort(samples_.begin(), samples_.end(), before);
  }
}

size_t CounterSeries::first_ending_after(Nanoseconds time) const {
  // Samples of one series follow each other: their ends are in order, too.
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

}  // namespace llmprof::analysis
