#include "compare/quantities/quantities.h"

#include <algorithm>
#include <future>
#include <set>

#include "compare/comparability/comparability.h"
#include "compare/statistics/estimate.h"

namespace llmprof::compare {
namespace {

constexpr std::string_view kClass = "class.";

double of_class(const profile::ByName<WholeNanoseconds>& classes, std::string_view name) {
  for (const auto& [known, time] : classes) {
    if (known == name) return profile::to_milliseconds(time.value).value;
  }
  return 0;
}

// ms; none for what steps do not have.
std::optional<double> value_of(const profile::Step& step, std::string_view quantity) {
  if (quantity == "step") return step.wall.value;
  if (quantity == "step_busy") return step.gpu_busy.value;
  if (quantity == "step_idle") return step.wall.value - step.gpu_busy.value;
  if (quantity == "step_kernels") return step.gpu_sum.value;
  if (quantity.starts_with(kClass)) return of_class(step.classes, quantity.substr(kClass.size()));
  return std::nullopt;
}

std::optional<double> value_of(const profile::Instance& instance, std::string_view quantity) {
  if (quantity == "wall") return instance.wall.value;
  if (quantity == "busy") return instance.gpu_busy.value;
  if (quantity == "idle") return instance.wall.value - instance.gpu_busy.value;
  if (quantity == "kernels") return instance.gpu_sum.value;
  if (quantity.starts_with(kClass)) {
    return of_class(instance.classes, quantity.substr(kClass.size()));
  }
  return std::nullopt;
}

std::optional<Series> series_of(const StepsOfRun& run, std::string_view quantity) {
  Series series;
  series.groups = run.groups;
  for (const profile::Step* step : run.steps) {
    const auto value = value_of(*step, quantity);
    if (!value) return std::nullopt;
    series.values.push_back(*value);
  }
  return series;
}

std::optional<Series> series_of(const std::vector<const profile::Instance*>& run,
                                std::string_view quantity) {
  Series series;
  for (const profile::Instance* instance : run) {
    const auto value = value_of(*instance, quantity);
    if (!value) return std::nullopt;
    series.values.push_back(*value);
    series.groups.push_back(0);
  }
  return series;
}

// None where a run has no value: its runs would not be as many as they are.
template <class Runs>
std::optional<std::vector<Series>> side_of(const Runs& runs, std::string_view quantity) {
  std::vector<Series> side;
  for (const auto& run : runs) {
    auto series = series_of(run, quantity);
    if (!series || series->values.empty()) return std::nullopt;
    side.push_back(std::move(*series));
  }
  return side;
}

Comparison described(const std::string& stage, std::string_view quantity, Statistic statistic) {
  Comparison comparison;
  comparison.stage = stage;
  comparison.quantity = quantity;
  comparison.statistic = to_string(statistic);
  comparison.unit = "ms";
  comparison.times = "recorded";
  return comparison;
}

void fill(const Estimate& estimate, const Sides& sides, std::string_view single, Comparison& into) {
  into.base = estimate.base;
  into.now = estimate.now;
  into.difference = estimate.difference;
  into.low = estimate.low;
  into.high = estimate.high;
  into.method = to_string(estimate.method);
  into.base_count = estimate.base_count;
  into.now_count = estimate.now_count;
  into.base_block = estimate.base_block;
  into.now_block = estimate.now_block;
  into.base_runs = sides.base.size();
  into.now_runs = sides.now.size();
  const bool several = into.base_runs > 1 || into.now_runs > 1;
  into.unit_of_noise = several ? "runs" : std::string(single);
}

// Of the runs' stages: a figure that each run has once.
template <class Value>
std::optional<std::vector<double>> one_per_run(std::span<const Run> runs, const std::string& stage,
                                               Value value) {
  std::vector<double> values;
  for (const Run& run : runs) {
    const profile::Stage* found = find_stage(run.profile, stage);
    if (found == nullptr) return std::nullopt;
    const std::optional<double> each = value(*found);
    if (!each) return std::nullopt;
    values.push_back(*each);
  }
  return values;
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

std::vector<std::string> classes_of(const Sides& sides, const std::string& stage) {
  std::set<std::string> names;
  for (const std::span<const Run> runs : {sides.base, sides.now}) {
    for (const Run& run : runs) {
      const profile::Stage* found = find_stage(run.profile, stage);
      if (found == nullptr) continue;
      for (const profile::Instance& instance : found->instances) {
        if (instance.warmup) continue;
        for (const auto& [name, time] : instance.classes) names.insert(name);
      }
    }
  }
  return {names.begin(), names.end()};
}

}  // namespace

StageQuantities::StageQuantities(const Sides& sides, std::string stage,
                                 std::vector<LeftOut>& left_out)
    : sides_(sides),
      stage_(std::move(stage)),
      serving_(sides.base.front().profile.stages_found.serving.value_or(false)),
      unwatched_(unwatched_on_both(sides, stage_)),
      steps_(like_steps(sides, stage_, left_out)),
      classes_(classes_of(sides, stage_)) {
  // Under continuous batching each instance is one step, whose batch is its own.
  if (!serving_) instances_ = like_instances(sides, stage_, left_out);
}

std::optional<Comparison> StageQuantities::of_steps(std::string_view quantity,
                                                    Statistic statistic) const {
  const auto base = side_of(steps_.base, quantity);
  const auto now = side_of(steps_.now, quantity);
  if (!base || !now) return std::nullopt;
  std::vector<double> weights;
  weights.reserve(steps_.groups.size());
  for (const StepGroup& group : steps_.groups) weights.push_back(group.weight.value);
  const auto found = estimate(*base, *now, weights, statistic);
  if (!found) return std::nullopt;
  Comparison comparison = described(stage_, quantity, statistic);
  fill(*found, sides_, "steps", comparison);
  return comparison;
}

std::optional<Comparison> StageQuantities::of_instances(std::string_view quantity,
                                                        Statistic statistic) const {
  const auto base = side_of(instances_.base, quantity);
  const auto now = side_of(instances_.now, quantity);
  if (!base || !now) return std::nullopt;
  constexpr double kOnlyGroup = 1;
  const auto found = estimate(*base, *now, std::span(&kOnlyGroup, 1), statistic);
  if (!found) return std::nullopt;
  Comparison comparison = described(stage_, quantity, statistic);
  fill(*found, sides_, "instances", comparison);
  return comparison;
}

// Each run has one mean of its stage without profiling, per step where it has steps.
std::optional<Comparison> StageQuantities::unwatched(Statistic statistic) const {
  if (!unwatched_ || statistic != Statistic::mean) return std::nullopt;
  const auto wall = [](const profile::Stage& stage) -> std::optional<double> {
    const profile::Unwatched& unwatched = *stage.unwatched;
    return (unwatched.per_step ? *unwatched.per_step : unwatched.wall).value;
  };
  const auto base = one_per_run(sides_.base, stage_, wall);
  const auto now = one_per_run(sides_.now, stage_, wall);
  if (!base || !now) return std::nullopt;
  auto found = estimate_runs(*base, *now);
  if (!found) return std::nullopt;
  const bool per_step =
      find_stage(sides_.base.front().profile, stage_)->unwatched->per_step.has_value();
  if (*base == *now) {
    found->low = found->high = found->difference = 0;
    found->method = Method::identical;
  }
  Comparison comparison = described(stage_, per_step ? "step" : "wall", statistic);
  comparison.times = "unwatched";
  fill(*found, sides_, "runs", comparison);
  return comparison;
}

// What is a constant over the wall time has the noise of the wall time.
std::optional<Comparison> StageQuantities::from_wall(std::string_view quantity,
                                                     double threshold) const {
  const auto value = [&](const profile::Stage& stage) -> std::optional<double> {
    if (quantity == "mfu" && stage.mfu.wall) return stage.mfu.wall->value;
    if (quantity == "mbu" && stage.mbu.wall) return stage.mbu.wall->value;
    return std::nullopt;
  };
  std::optional<std::vector<double>> base;
  std::optional<std::vector<double>> now;
  auto wall = unwatched(Statistic::mean);
  if (!wall || !wall->low) wall = of_instances("wall", Statistic::mean);
  if (quantity == "tokens_per_s") {
    wall = of_steps("step", Statistic::mean);
    // One token per sequence and step; groups of several batches have no one rate.
    if (!wall || groups().size() != 1 || groups().front().kind != "decode" ||
        !groups().front().batch) {
      return std::nullopt;
    }
    constexpr double kMillisecondsPerSecond = 1000;
    const double tokens = kMillisecondsPerSecond * static_cast<double>(*groups().front().batch);
    base = {tokens / *wall->base};
    now = {tokens / *wall->now};
  } else {
    base = one_per_run(sides_.base, stage_, value);
    now = one_per_run(sides_.now, stage_, value);
  }
  if (!base || !now || !wall || !wall->base || *wall->base <= 0) return std::nullopt;
  Comparison comparison = *wall;
  comparison.quantity = quantity;
  comparison.unit = quantity == "tokens_per_s" ? "tokens/s" : "fraction";
  comparison.lower_is_better = false;
  if (comparison.method != "identical") comparison.method = "from_wall";
  comparison.base = mean(*base);
  comparison.now = mean(*now);
  comparison.difference = *comparison.now - *comparison.base;
  comparison.low.reset();
  comparison.high.reset();
  if (wall->low && wall->high) {
    // value is proportional to 1 / wall.
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
  judge(threshold, comparison);
  return comparison;
}

std::optional<Comparison> StageQuantities::compare(std::string_view quantity, Statistic statistic,
                                                   double threshold) const {
  if (quantity == "tokens_per_s" || quantity == "mfu" || quantity == "mbu") {
    return from_wall(quantity, threshold);
  }
  std::optional<Comparison> found;
  const bool per_step = find_stage(sides_.base.front().profile, stage_)->unwatched &&
                        find_stage(sides_.base.front().profile, stage_)->unwatched->per_step;
  if (quantity == (per_step ? "step" : "wall")) {
    found = unwatched(statistic);
    // One number per side has no interval: the recorded times have.
    if (found && !found->low) found.reset();
  }
  if (!found) {
    const bool of_class = quantity.starts_with(kClass);
    const bool steps = quantity.starts_with("step") || (of_class && has_steps());
    found = steps ? of_steps(quantity, statistic) : of_instances(quantity, statistic);
  }
  if (found) judge(threshold, *found);
  return found;
}

std::vector<Comparison> StageQuantities::compare_all(double threshold) const {
  std::vector<Comparison> all;
  // Each is a thousand resamples, and none needs another.
  std::vector<std::future<std::optional<Comparison>>> begun;
  const auto add = [&](std::string_view quantity, Statistic statistic) {
    begun.push_back(
        std::async(std::launch::async, [this, name = std::string(quantity), statistic, threshold] {
          return compare(name, statistic, threshold);
        }));
  };
  if (auto found = unwatched(Statistic::mean)) {
    judge(threshold, *found);
    all.push_back(std::move(*found));
  }
  for (const std::string_view quantity : {"step", "step_busy", "step_idle", "step_kernels"}) {
    add(quantity, Statistic::shift);
  }
  for (const std::string_view quantity : {"wall", "busy", "idle", "kernels"}) {
    add(quantity, Statistic::shift);
  }
  for (const std::string& name : classes_) add(std::string(kClass) + name, Statistic::shift);
  for (const std::string_view quantity : {"tokens_per_s", "mfu", "mbu"}) {
    add(quantity, Statistic::mean);
  }
  for (auto& each : begun) {
    if (auto found = each.get()) all.push_back(std::move(*found));
  }
  return all;
}

}  // namespace llmprof::compare
