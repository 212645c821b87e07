#include "compare/quantities/quantities.h"

#include <algorithm>
#include <functional>
#include <future>
#include <set>

#include "compare/comparability/comparability.h"

namespace llmprof::compare {
namespace {

// Value of a step or instance in ms.
template <class Row>
double value_of(const Row& row, ComparedQuantity quantity) {
  switch (quantity.measured) {
    case Measured::wall:
      return row.wall.value;
    case Measured::busy:
      return row.gpu_busy.value;
    case Measured::idle:
      return row.wall.value - row.gpu_busy.value;
    case Measured::kernels:
      return row.gpu_sum.value;
    case Measured::one_class:
      for (const auto& [known, time] : row.classes) {
        if (known == quantity.kernel_class) return profile::to_milliseconds(time.value).value;
      }
      break;
    default:  // of requests, or of the wall time
      break;
  }
  return 0;
}

// None if a run has no value: the number of runs would be wrong.
template <class Row>
std::optional<std::vector<Series>> side_of(const std::vector<RowsOfRun<Row>>& runs,
                                           ComparedQuantity quantity) {
  std::vector<Series> side;
  for (const RowsOfRun<Row>& run : runs) {
    Series& series = side.emplace_back(Series{{}, run.groups});
    for (const Row* row : run.rows) series.values.push_back(value_of(*row, quantity));
    if (series.values.empty()) return std::nullopt;
  }
  return side;
}

// `single` varies if both sides are one run.
Comparison described(Comparison found, const Sides& sides, const std::string& stage,
                     ComparedQuantity quantity, Statistic statistic, NoiseOf single) {
  found.stage = stage;
  found.quantity = quantity;
  found.statistic = statistic;
  found.base_runs = sides.base.size();
  found.now_runs = sides.now.size();
  const bool several = found.base_runs > 1 || found.now_runs > 1;
  found.noise_of = several ? NoiseOf::runs : single;
  return found;
}

// A figure that each run has once per stage.
template <class Value>
std::optional<std::vector<double>> one_per_run(std::span<const Run> runs, const std::string& stage,
                                               Value value) {
  std::vector<double> values;
  for (const Run& run : runs) {
    const profile::Stage* found = find_measured(run.profile.stages, stage);
    if (found == nullptr) return std::nullopt;
    const std::optional<double> each = value(*found);
    if (!each) return std::nullopt;
    values.push_back(*each);
  }
  return values;
}

// How much of the wall time may vary with the host.
SingleRuns::Composition composition_of_walls(const std::optional<std::vector<Series>>& base_wall,
                                             const std::optional<std::vector<Series>>& base_idle,
                                             const std::optional<std::vector<Series>>& now_idle) {
  const auto mean_of = [](const std::optional<std::vector<Series>>& side) {
    double sum = 0;
    double count = 0;
    if (!side) return sum;
    for (const Series& run : *side) {
      for (const double value : run.values) sum += value;
      count += static_cast<double>(run.values.size());
    }
    return count == 0 ? 0 : sum / count;
  };
  return {.base_wall = mean_of(base_wall),
          .most_idle = std::max(mean_of(base_idle), mean_of(now_idle))};
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double measured_seconds(const profile::Stage& stage) {
  constexpr double kMillisecondsPerSecond = 1000;
  double sum = 0;
  for (const profile::Instance& instance : stage.instances) {
    if (!instance.warmup) sum += instance.wall.value;
  }
  return sum / kMillisecondsPerSecond;
}

// One peak for both sides' MFU or MBU. A CPU's peaks are measured, and a disturbed measurement is
// too low: the highest one of a machine is the best estimate.
struct SharedPeak {
  bool known = true;  // false: there is no common peak, and no comparison
  std::optional<double> peak;
};

SharedPeak shared_peak(const Sides& sides, const std::string& stage, bool of_flops) {
  std::set<std::string> machines;
  std::set<double> peaks;
  bool missing = false;
  for (const std::span<const Run> runs : {sides.base, sides.now}) {
    for (const Run& run : runs) {
      const profile::Stage* found = find_measured(run.profile.stages, stage);
      if (found == nullptr) return {false, {}};
      std::optional<double> peak;
      if (of_flops && found->peak_flops) peak = found->peak_flops->value;
      if (!of_flops && found->peak_bandwidth) peak = found->peak_bandwidth->value;
      missing = missing || !peak;
      if (peak) peaks.insert(*peak);
      const auto& cpu = run.profile.utilization.cpu;
      machines.insert(cpu ? cpu->name + ", " + cpu->number_format : "");
    }
  }
  const bool measured = !machines.contains("");
  if (missing) return {!measured && peaks.empty(), {}};  // GPU, from an earlier version
  if (peaks.size() == 1) return {true, *peaks.begin()};
  if (measured && machines.size() == 1) return {true, *peaks.rbegin()};
  return {false, {}};
}

std::vector<profile::KernelClass> classes_of(const Sides& sides, const std::string& stage) {
  std::set<profile::KernelClass> found_classes;
  for (const std::span<const Run> runs : {sides.base, sides.now}) {
    for (const Run& run : runs) {
      const profile::Stage* found = find_measured(run.profile.stages, stage);
      if (found == nullptr) continue;
      for (const profile::Instance& instance : found->instances) {
        if (instance.warmup) continue;
        for (const auto& [known, time] : instance.classes) found_classes.insert(known);
      }
    }
  }
  std::vector<profile::KernelClass> classes(found_classes.begin(), found_classes.end());
  std::ranges::sort(classes, {}, [](profile::KernelClass each) { return to_string(each); });
  return classes;
}

}  // namespace

StageQuantities::StageQuantities(const Sides& sides, std::string stage, const Judging& judging,
                                 std::vector<LeftOut>& left_out)
    : sides_(sides),
      stage_(std::move(stage)),
      judging_(judging),
      serving_(sides.base.front().profile.stages_found.serving.value_or(false)),
      untraced_(untraced_on_both(sides, stage_)),
      steps_(comparable_steps(sides, stage_, left_out)),
      classes_(classes_of(sides, stage_)) {
  // With continuous batching each instance is one step with its own batch.
  if (!serving_) instances_ = comparable_instances(sides, stage_, left_out);
  const auto made_of_rows = [](const auto& rows) {
    return composition_of_walls(side_of(rows.base, {Measured::wall}),
                                side_of(rows.base, {Measured::idle}),
                                side_of(rows.now, {Measured::idle}));
  };
  of_steps_ = made_of_rows(steps_);
  of_instances_ = made_of_rows(instances_);
}

std::optional<Comparison> StageQuantities::recorded(ComparedQuantity quantity,
                                                    Statistic statistic) const {
  const bool of_steps = is_of_steps(quantity);
  const auto base = of_steps ? side_of(steps_.base, quantity) : side_of(instances_.base, quantity);
  const auto now = of_steps ? side_of(steps_.now, quantity) : side_of(instances_.now, quantity);
  if (!base || !now) return std::nullopt;
  std::vector<double> weights(of_steps ? 0 : 1, 1);  // instances are one group
  if (of_steps) {
    for (const StepGroup& group : steps_.groups) weights.push_back(group.weight.value);
  }
  auto found = estimate(*base, *now, weights, statistic);
  if (!found) return std::nullopt;
  return described(std::move(*found), sides_, stage_, quantity, statistic,
                   of_steps ? NoiseOf::steps : NoiseOf::instances);
}

ComparedQuantity StageQuantities::untraced_quantity() const {
  const auto& times = find_measured(sides_.base.front().profile.stages, stage_)->untraced;
  return {Measured::wall, times && times->per_step ? Per::step : Per::instance};
}

// Each run has one mean of its stage without profiling, per step if it has steps. In single runs it
// varies like the recorded times.
std::optional<Comparison> StageQuantities::untraced(Statistic statistic) const {
  if (!untraced_ || statistic != Statistic::mean) return std::nullopt;
  const auto wall = [](const profile::Stage& stage) -> std::optional<double> {
    const profile::UntracedTimes& untraced = *stage.untraced;
    return (untraced.per_step ? *untraced.per_step : untraced.wall).value;
  };
  const auto base = one_per_run(sides_.base, stage_, wall);
  const auto now = one_per_run(sides_.now, stage_, wall);
  if (!base || !now) return std::nullopt;
  const ComparedQuantity quantity = untraced_quantity();
  Comparison comparison = described(independent_difference(*base, *now), sides_, stage_, quantity,
                                    statistic, NoiseOf::runs);
  if (*base == *now) {
    comparison.low = comparison.high = comparison.difference = 0;
    comparison.method = Method::identical;
  }
  comparison.times = Times::untraced;
  if (comparison.low || !judging_.single) return comparison;
  const auto as_recorded = recorded(quantity, Statistic::mean);
  if (!as_recorded || !as_recorded->low || *as_recorded->base <= 0) return comparison;
  const double half = (*as_recorded->high - *as_recorded->low) / 2 / *as_recorded->base;
  comparison.low = *comparison.difference - half * *comparison.base;
  comparison.high = *comparison.difference + half * *comparison.base;
  comparison.method = Method::as_recorded;
  comparison.noise_of = as_recorded->noise_of;
  return comparison;
}

// Kernel classes are compared per step if the stage has steps.
bool StageQuantities::is_of_steps(ComparedQuantity quantity) const {
  return quantity.per == Per::step || (quantity.per == Per::either && has_steps());
}

// A decode's time per token, otherwise the time per instance.
std::optional<Comparison> StageQuantities::wall_time() const {
  auto wall = untraced(Statistic::mean);
  if (!wall || !wall->low) wall = recorded({Measured::wall, Per::instance}, Statistic::mean);
  return widened(std::move(wall));
}

std::optional<Comparison> StageQuantities::widened(std::optional<Comparison> found) const {
  if (found && judging_.single) judging_.single->widen(composition_of(*found), *found);
  return found;
}

SingleRuns::Composition StageQuantities::composition_of(const Comparison& comparison) const {
  const profile::Stage& base = *find_measured(sides_.base.front().profile.stages, stage_);
  const profile::Stage& now = *find_measured(sides_.now.front().profile.stages, stage_);
  SingleRuns::Composition made = is_of_steps(comparison.quantity) ? of_steps_ : of_instances_;
  made.of_host = comparison.quantity.is_of_host();
  made.base_stage_s = measured_seconds(base);
  made.now_stage_s = measured_seconds(now);
  if (comparison.times == Times::untraced) {
    made.base_wall = comparison.base.value_or(0);
    made.most_idle = std::max(made.base_wall * base.untraced->idle_share.value,
                              comparison.now.value_or(0) * now.untraced->idle_share.value);
  }
  return made;
}

// A constant divided by the wall time has the noise of the wall time.
std::optional<Comparison> StageQuantities::from_wall(ComparedQuantity quantity) const {
  const bool of_flops = quantity.measured == Measured::mfu;
  const bool of_tokens = quantity.measured == Measured::tokens_per_s;
  std::optional<std::vector<double>> base;
  std::optional<std::vector<double>> now;
  auto wall = wall_time();
  if (of_tokens) {
    wall = measure({Measured::wall, Per::step}, Statistic::mean);
    // One token per sequence and step; groups with several batch sizes have no single rate.
    if (!wall || groups().size() != 1 || groups().front().kind != profile::StepKind::decode ||
        !groups().front().batch) {
      return std::nullopt;
    }
    constexpr double kMillisecondsPerSecond = 1000;
    const double tokens = kMillisecondsPerSecond * static_cast<double>(*groups().front().batch);
    base = {tokens / *wall->base};
    now = {tokens / *wall->now};
  } else {
    const SharedPeak shared = shared_peak(sides_, stage_, of_flops);
    if (!shared.known && !judging_.own_peaks) return std::nullopt;
    const bool without = wall && wall->times == Times::untraced;
    const auto value = [&](const profile::Stage& stage) -> std::optional<double> {
      const auto& recorded = of_flops ? stage.mfu.wall : stage.mbu.wall;
      const auto& used =
          !without ? recorded : (of_flops ? stage.shown.mfu.wall : stage.shown.mbu.wall);
      if (!used || !shared.peak) return used ? std::optional(used->value) : std::nullopt;
      const double peak = of_flops ? stage.peak_flops->value : stage.peak_bandwidth->value;
      return used->value * peak / *shared.peak;
    };
    base = one_per_run(sides_.base, stage_, value);
    now = one_per_run(sides_.now, stage_, value);
  }
  if (!base || !now || !wall || !wall->base || *wall->base <= 0) return std::nullopt;
  Comparison comparison = *wall;
  comparison.quantity = quantity;
  comparison.unit = of_tokens ? ComparedUnit::tokens_per_s : ComparedUnit::fraction;
  comparison.lower_is_better = false;
  if (comparison.method != Method::identical) comparison.method = Method::from_wall;
  comparison.base = mean(*base);
  comparison.now = mean(*now);
  comparison.difference = *comparison.now - *comparison.base;
  comparison.low.reset();
  comparison.high.reset();
  if (wall->low && wall->high) {
    // The value is proportional to 1 / wall.
    const double middle = *wall->base + *wall->difference;
    const double ratio = *comparison.now / *comparison.base;
    const auto at = [&](double difference) {
      return *comparison.base * (ratio * middle / (*wall->base + difference) - 1);
    };
    if (*wall->base + *wall->low > 0) {
      comparison.low = at(*wall->high);
      comparison.high = at(*wall->low);
    }
  }
  return comparison;
}

std::optional<Comparison> StageQuantities::measure(ComparedQuantity quantity,
                                                   Statistic statistic) const {
  if (quantity.is_of_requests()) return std::nullopt;
  if (quantity.is_from_wall()) return from_wall(quantity);
  std::optional<Comparison> found;
  if (quantity == untraced_quantity()) {
    found = untraced(statistic);
    // One number per side has no interval, but the recorded times do.
    if (found && !found->low) found.reset();
  }
  return widened(found ? std::move(found) : recorded(quantity, statistic));
}

Comparison StageQuantities::judged(Comparison comparison) const {
  judge(judging_.threshold, comparison);
  if (judging_.withheld) {
    comparison.why_not = judging_.withheld;
  } else if (!judging_.recorded_alike && comparison.times == Times::recorded) {
    comparison.why_not = NoAnswer::recorded_differently;
  }
  if (comparison.why_not) withhold(comparison);
  return comparison;
}

std::optional<Comparison> StageQuantities::compare(ComparedQuantity quantity,
                                                   Statistic statistic) const {
  auto found = measure(quantity, statistic);
  if (!found) return std::nullopt;
  return judged(std::move(*found));
}

std::vector<Comparison> StageQuantities::compare_all() const {
  std::vector<ComparedQuantity> quantities;
  for (const auto& word : kQuantities) quantities.push_back(word.value);
  for (const profile::KernelClass each : classes_) quantities.push_back(time_of(each));
  std::ranges::stable_partition(quantities, std::not_fn(&ComparedQuantity::is_from_wall));
  // Each takes a thousand resamples and is independent of the others.
  std::vector<std::future<std::optional<Comparison>>> begun;
  begun.reserve(quantities.size());
  for (const ComparedQuantity quantity : quantities) {
    begun.push_back(std::async(std::launch::async, [this, quantity] {
      return quantity.is_from_wall() ? from_wall(quantity)
                                     : widened(recorded(quantity, Statistic::mean));
    }));
  }
  std::vector<Comparison> all;
  if (auto found = widened(untraced(Statistic::mean))) all.push_back(judged(std::move(*found)));
  for (auto& each : begun) {
    if (auto found = each.get()) all.push_back(judged(std::move(*found)));
  }
  return all;
}

}  // namespace llmprof::compare
