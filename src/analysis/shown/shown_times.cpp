#include "analysis/shown/shown_times.h"

namespace llmprof::analysis::shown {
namespace {

using Times = profile::Statistics<profile::Milliseconds>;

constexpr double kWideDeviation = 0.25;  // of the mean
constexpr double kWideRange = 1.5;       // longest over shortest
constexpr uint64_t kFewTimes = 3;        // a median of them says no more than the range

bool widely_spread(const Times& times) {
  if (times.count < 2 || !times.mean || !times.min || !times.max) return false;
  if (times.std && times.std->value > kWideDeviation * times.mean->value) return true;
  return times.count <= kFewTimes && times.max->value > kWideRange * times.min->value;
}

}  // namespace

profile::ShownTimes shown_times(const Times& times) {
  profile::ShownTimes shown{times, profile::Typical::mean};
  if (widely_spread(times)) {
    shown.typical = times.count <= kFewTimes ? profile::Typical::range : profile::Typical::median;
  }
  return shown;
}

Times scaled(Times times, double by) {
  for (auto* value : {&times.mean, &times.std, &times.min, &times.p50, &times.p99, &times.max}) {
    scale_by(by, *value);
  }
  return times;
}

Times mean_alone(const Times& recorded, double mean) {
  Times times;
  times.mean = profile::Milliseconds{mean};
  times.count = recorded.count;
  return times;
}

double slowdown(const profile::Stage& stage) {
  return stage.wall.mean->value / stage.unwatched->wall.value;
}

Times without_tracing(const profile::Stage& stage, const Times& recorded) {
  return stage.shown.in_windows ? mean_alone(recorded, stage.unwatched->wall.value)
                                : scaled(recorded, 1 / slowdown(stage));
}

}  // namespace llmprof::analysis::shown
