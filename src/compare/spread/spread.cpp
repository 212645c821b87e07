#include "compare/spread/spread.h"

#include <algorithm>
#include <cmath>

#include "base/quantiles.h"
#include "compare/comparability/comparability.h"
#include "compare/likeness/comparable_steps.h"
#include "compare/statistics/estimate.h"

namespace llmprof::compare {
namespace {

// None if a run does not have the value.
template <class Row>
std::optional<std::vector<double>> recorded(const std::vector<RowsOfRun<Row>>& runs,
                                            profile::Milliseconds Row::* time) {
  std::vector<double> values;
  for (const RowsOfRun<Row>& run : runs) {
    if (run.rows.empty()) return std::nullopt;
    double sum = 0;
    for (const Row* row : run.rows) sum += (row->*time).value;
    values.push_back(sum / static_cast<double>(run.rows.size()));
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
  const auto [low, high] = std::ranges::minmax_element(spread.values);
  spread.low = *low;
  spread.high = *high;
  if (spread.values.size() < 2 || spread.mean <= 0) return;
  spread.deviation = deviation(spread.values);
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
    const ComparableSteps steps = comparable_steps(both, stage, ignored);
    const profile::Stage& first = *find_stage(runs.front().profile, stage);
    const bool in_steps = first.step_count > 0 && !steps.groups.empty();
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
      add(first.unwatched->per_step ? "step" : "wall", Times::unwatched, unwatched(runs, stage));
    } else {
      add(in_steps ? "step" : "wall", Times::recorded,
          in_steps ? recorded(steps.base, &profile::Step::wall)
                   : recorded(instances.base, &profile::Instance::wall));
    }
    add(in_steps ? "step_busy" : "busy", Times::recorded,
        in_steps ? recorded(steps.base, &profile::Step::gpu_busy)
                 : recorded(instances.base, &profile::Instance::gpu_busy));
  }
  return found;
}

}  // namespace llmprof::compare
