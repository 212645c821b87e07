#include "compare/spread/spread.h"

#include <algorithm>
#include <cmath>

#include "base/quantiles.h"
#include "compare/comparability/comparability.h"
#include "compare/likeness/comparable_steps.h"
#include "compare/statistics/estimate.h"

namespace llmprof::compare {
namespace {

template <class Row>
double mean_of(const std::vector<const Row*>& rows, bool busy) {
  double sum = 0;
  for (const Row* row : rows) sum += busy ? row->gpu_busy.value : row->wall.value;
  return sum / static_cast<double>(rows.size());
}

// None where a run has no such value.
std::optional<std::vector<double>> recorded(const ComparableSteps& steps,
                                            const ComparableInstances& instances, bool busy) {
  std::vector<double> values;
  if (!steps.groups.empty()) {
    for (const StepsOfRun& run : steps.base) {
      if (run.steps.empty()) return std::nullopt;
      values.push_back(mean_of(run.steps, busy));
    }
    return values;
  }
  for (const auto& run : instances.base) {
    if (run.empty()) return std::nullopt;
    values.push_back(mean_of(run, busy));
  }
  return values;
}

std::optional<std::vector<double>> unwatched(std::span<const Run> runs, const std::string& stage) {
  std::vector<double> values;
  for (const Run& run : runs) {
    const profile::Unwatched& without = *find_stage(run.profile, stage)->unwatched;
    values.push_back((without.per_step ? *without.per_step : without.wall).value);
  }
  return values;
}

void fill_spread(double threshold, Spread& spread) {
  const auto count = static_cast<double>(spread.values.size());
  for (const double value : spread.values) spread.mean += value / count;
  const auto [low, high] = std::minmax_element(spread.values.begin(), spread.values.end());
  spread.low = *low;
  spread.high = *high;
  if (spread.values.size() < 2 || spread.mean <= 0) return;
  double squares = 0;
  for (const double value : spread.values) {
    squares += (value - spread.mean) * (value - spread.mean);
  }
  spread.deviation = std::sqrt(squares / (count - 1));
  const double half =
      student_t_975(2 * count - 2) * spread.deviation * std::sqrt(2 / count) / spread.mean;
  spread.smallest_seen = profile::Share{smallest_seen(threshold, half)};
}

}  // namespace

std::vector<Spread> find_spread(std::span<const Run> runs, double threshold) {
  std::vector<Spread> found;
  const Sides both{runs, runs};
  for (const std::string& stage : common_stages(both)) {
    std::vector<LeftOut> ignored;
    ComparableSteps steps = comparable_steps(both, stage, ignored);
    const bool in_steps = find_stage(runs.front().profile, stage)->step_count > 0;
    if (!in_steps) steps.groups.clear();
    const ComparableInstances instances = comparable_instances(both, stage, ignored);
    const auto add = [&](std::string_view quantity, Times times, auto values) {
      if (!values || values->empty()) return;
      Spread& spread = found.emplace_back();
      spread.stage = stage;
      spread.quantity = quantity;
      spread.times = times;
      spread.values = std::move(*values);
      fill_spread(threshold, spread);
    };
    if (unwatched_on_both(both, stage)) {
      const bool per_step =
          find_stage(runs.front().profile, stage)->unwatched->per_step.has_value();
      add(per_step ? "step" : "wall", Times::unwatched, unwatched(runs, stage));
    } else {
      add(steps.groups.empty() ? "wall" : "step", Times::recorded,
          recorded(steps, instances, false));
    }
    add(steps.groups.empty() ? "busy" : "step_busy", Times::recorded,
        recorded(steps, instances, true));
  }
  return found;
}

}  // namespace llmprof::compare
