#include "compare/requests/request_quantities.h"

#include <algorithm>
#include <cmath>
#include <future>
#include <string>
#include <utility>

#include "base/units.h"
#include "compare/requests/paired_bootstrap.h"
#include "compare/statistics/estimate.h"

namespace llmprof::compare {
namespace {

using profile::Requests;

const Requests& requests_of(const Run& run) { return *run.profile.requests; }

bool is_single(const Sides& sides) { return sides.base.size() == 1 && sides.now.size() == 1; }

template <class Value>
std::optional<std::vector<double>> value_per_run(std::span<const Run> runs, const Value& value) {
  std::vector<double> values;
  for (const Run& run : runs) {
    const std::optional<double> each = value(run);
    if (!each) return std::nullopt;
    values.push_back(*each);
  }
  return values;
}

template <class Test>
bool all_runs(const Sides& sides, const Test& test) {
  return std::ranges::all_of(sides.base, test) && std::ranges::all_of(sides.now, test);
}

// What varies with the host: its own time and the delivery, if they are known; otherwise the time
// in which the devices idle. 0 if nothing is known.
double host_share_of(const profile::Profile& profile) {
  double host = 0;
  double all = 0;
  for (const auto& [part, time] : profile.requests->parts) {
    const auto ns = static_cast<double>(time.value);
    all += ns;
    if (part == profile::RequestPart::host || part == profile::RequestPart::delivery) host += ns;
  }
  if (all > 0) return host / all;
  for (const profile::Stage& stage : profile.stages) {
    if (!stage.wall.mean || !stage.gpu_busy.mean) continue;
    const auto count = static_cast<double>(stage.wall.count);
    all += stage.wall.mean->value * count;
    host += (stage.wall.mean->value - stage.gpu_busy.mean->value) * count;
  }
  return all > 0 ? host / all : 0;
}

// From the first to the last request, in seconds.
double seconds_of(const Requests& requests) {
  const double rate = requests.load.completed_rate.value_or(0);
  return rate > 0 ? static_cast<double>(requests.completed) / rate : 0;
}

Comparison described(Comparison found, const Sides& sides, ComparedQuantity quantity,
                     Statistic statistic) {
  found.stage = kRequests;
  found.quantity = quantity;
  found.statistic = statistic;
  found.base_runs = sides.base.size();
  found.now_runs = sides.now.size();
  found.noise_of = is_single(sides) ? NoiseOf::requests : NoiseOf::runs;
  return found;
}

// One value per run.
Comparison of_runs(const std::vector<double>& base, const std::vector<double>& now) {
  Comparison found = independent_difference(base, now);
  if (base == now) {
    found.difference = found.low = found.high = 0;
    found.method = Method::identical;
  }
  return found;
}

// The profile's own figure; for parts, the mean of their samples.
std::optional<double> figure_of(const Run& run, ComparedQuantity quantity, Statistic statistic) {
  if (const profile::RequestTimes* times = times_of(requests_of(run), quantity)) {
    return value_of(*times, statistic);
  }
  const RequestSamples samples = samples_of(requests_of(run), quantity);
  if (samples.values.empty() || statistic != Statistic::mean) return std::nullopt;
  double sum = 0;
  for (const double value : samples.values) sum += value;
  return sum / static_cast<double>(samples.values.size());
}

bool have_equal_limits(const std::vector<profile::Objective>& a,
                       const std::vector<profile::Objective>& b) {
  return std::ranges::equal(a, b,
                            [](const profile::Objective& one, const profile::Objective& other) {
                              return one.figure == other.figure && one.limit == other.limit;
                            });
}

bool has_parts(const Run& run) { return !requests_of(run).parts.empty(); }

}  // namespace

std::optional<RequestQuantities> RequestQuantities::of(const Sides& sides, const Judging& judging,
                                                       std::optional<NoAnswer> withheld) {
  const bool known = all_runs(sides, [](const Run& run) {
    return run.profile.requests && run.profile.requests->completed > 0;
  });
  if (!known) return std::nullopt;
  RequestQuantities found(sides, judging);
  found.withheld_ = withheld;
  for (const std::span<const Run> runs : {sides.base, sides.now}) {
    for (const Run& run : runs) {
      found.host_share_ = std::max(found.host_share_, host_share_of(run.profile));
    }
  }
  return found;
}

std::optional<Comparison> RequestQuantities::recorded(ComparedQuantity quantity,
                                                      Statistic statistic) const {
  const bool of_part = quantity.measured == Measured::request_part;
  if (of_part && !all_runs(sides_, has_parts)) return std::nullopt;
  const auto figure = [&](const Run& run) { return figure_of(run, quantity, statistic); };
  const auto base = value_per_run(sides_.base, figure);
  const auto now = value_per_run(sides_.now, figure);
  if (!base || !now) return std::nullopt;
  if (!is_single(sides_)) return described(of_runs(*base, *now), sides_, quantity, statistic);
  auto found = paired_difference(samples_of(requests_of(sides_.base.front()), quantity),
                                 samples_of(requests_of(sides_.now.front()), quantity), statistic);
  if (!found) return std::nullopt;
  if (found->low && found->method != Method::identical) {
    const double half = (*found->high - *found->low) / 2;
    // Samples differ from the profile's figure if chunks have several tokens, or if a side sent
    // more requests.
    const double scale = *found->base > 0 ? base->front() / *found->base : 1;
    found->low = now->front() - base->front() - half * scale;
    found->high = now->front() - base->front() + half * scale;
  }
  found->base = base->front();
  found->now = now->front();
  found->difference = now->front() - base->front();
  return described(std::move(*found), sides_, quantity, statistic);
}

std::optional<Comparison> RequestQuantities::unrecorded(ComparedQuantity quantity,
                                                        Statistic statistic,
                                                        const Comparison& recorded) const {
  const auto figure = [&](const Run& run) -> std::optional<double> {
    const auto& alone = requests_of(run).unrecorded;
    const profile::RequestTimes* times = alone ? times_of(*alone, quantity) : nullptr;
    return times == nullptr ? std::nullopt : value_of(*times, statistic);
  };
  const auto base = value_per_run(sides_.base, figure);
  const auto now = value_per_run(sides_.now, figure);
  if (!base || !now) return std::nullopt;
  Comparison found = described(of_runs(*base, *now), sides_, quantity, statistic);
  found.times = Times::untraced;
  if (found.low || !recorded.low || !recorded.base || *recorded.base <= 0) return found;
  const double half = (*recorded.high - *recorded.low) / 2 / *recorded.base;
  found.low = *found.difference - half * *found.base;
  found.high = *found.difference + half * *found.base;
  found.method = Method::as_recorded;
  found.noise_of = recorded.noise_of;
  found.base_block = recorded.base_block;
  found.now_block = recorded.now_block;
  return found;
}

// Its interval in each profile follows from the number of requests that met the objectives.
std::optional<Comparison> RequestQuantities::goodput(Times times) const {
  const auto load_of = [&](const Run& run) -> const profile::RequestLoad* {
    if (times == Times::recorded) return &requests_of(run).load;
    const auto& alone = requests_of(run).unrecorded;
    return alone ? &alone->load : nullptr;
  };
  const auto rate = [&](const Run& run) -> std::optional<double> {
    const profile::RequestLoad* load = load_of(run);
    return load == nullptr ? std::nullopt : load->goodput;
  };
  const profile::RequestLoad* const first = load_of(sides_.base.front());
  const bool same_objectives =
      first != nullptr && all_runs(sides_, [&](const Run& run) {
        const profile::RequestLoad* load = load_of(run);
        return load != nullptr && have_equal_limits(first->objectives, load->objectives);
      });
  if (!same_objectives) return std::nullopt;
  const auto base = value_per_run(sides_.base, rate);
  const auto now = value_per_run(sides_.now, rate);
  if (!base || !now) return std::nullopt;
  Comparison found =
      described(of_runs(*base, *now), sides_, {Measured::goodput, Per::request}, Statistic::mean);
  found.unit = ComparedUnit::requests_per_s;
  found.lower_is_better = false;
  found.times = times;
  if (!is_single(sides_) || found.low) return found;
  const profile::RequestLoad& from = *load_of(sides_.base.front());
  const profile::RequestLoad& to = *load_of(sides_.now.front());
  if (!from.goodput_low || !from.goodput_high || !to.goodput_low || !to.goodput_high) return found;
  found.low = *found.difference -
              std::hypot(*to.goodput - *to.goodput_low, *from.goodput_high - *from.goodput);
  found.high = *found.difference +
               std::hypot(*to.goodput_high - *to.goodput, *from.goodput - *from.goodput_low);
  found.method = Method::both_intervals;
  return found;
}

Comparison RequestQuantities::judged(Comparison comparison) const {
  if (judging_->single && comparison.unit == ComparedUnit::ms) {
    const double largest = std::max(comparison.base.value_or(0), comparison.now.value_or(0));
    judging_->single->widen({.of_host = true,
                             .base_wall = comparison.base.value_or(0),
                             .most_idle = host_share_ * largest,
                             .base_stage_s = seconds_of(requests_of(sides_.base.front())),
                             .now_stage_s = seconds_of(requests_of(sides_.now.front()))},
                            comparison);
  }
  judge(judging_->threshold, comparison);
  if (judging_->withheld) {
    comparison.why_not = judging_->withheld;
  } else if (withheld_) {
    comparison.why_not = withheld_;
  } else if (!judging_->recorded_alike && comparison.times == Times::recorded) {
    comparison.why_not = NoAnswer::recorded_differently;
  }
  if (comparison.why_not) withhold(comparison);
  return comparison;
}

std::optional<Comparison> RequestQuantities::compare(ComparedQuantity quantity,
                                                     Statistic statistic) const {
  if (!quantity.is_of_requests()) return std::nullopt;
  std::optional<Comparison> found;
  if (quantity.measured == Measured::goodput) {
    if (statistic != Statistic::mean) return std::nullopt;
    found = goodput(Times::untraced);
    if (!found) found = goodput(Times::recorded);
  } else {
    found = recorded(quantity, statistic);
    if (!found) return std::nullopt;
    if (auto alone = unrecorded(quantity, statistic, *found); alone && alone->low) found = alone;
  }
  if (!found) return std::nullopt;
  return judged(std::move(*found));
}

std::vector<Comparison> RequestQuantities::compare_all() const {
  std::vector<std::pair<ComparedQuantity, Statistic>> wanted;
  for (const auto& word : kRequestQuantities) {
    if (word.value.measured == Measured::goodput) continue;
    wanted.emplace_back(word.value, Statistic::p50);
    wanted.emplace_back(word.value, Statistic::p99);
  }
  wanted.emplace_back(ComparedQuantity{Measured::e2e, Per::request}, Statistic::mean);
  for (const auto& word : profile::kWords<profile::RequestPart>) {
    wanted.emplace_back(time_of(word.value), Statistic::mean);
  }
  // Each takes up to a thousand resamples and is independent of the others.
  std::vector<std::future<std::optional<Comparison>>> begun;
  begun.reserve(wanted.size());
  for (const auto& [quantity, statistic] : wanted) {
    begun.push_back(
        std::async(std::launch::async, &RequestQuantities::recorded, this, quantity, statistic));
  }
  std::vector<Comparison> all;
  for (const Times times : {Times::untraced, Times::recorded}) {
    if (auto found = goodput(times)) all.push_back(judged(std::move(*found)));
  }
  for (auto& each : begun) {
    const std::optional<Comparison> found = each.get();
    if (!found || (*found->base == 0 && *found->now == 0)) continue;
    if (auto alone = unrecorded(found->quantity, found->statistic, *found)) {
      all.push_back(judged(std::move(*alone)));
    }
    all.push_back(judged(*found));
  }
  return all;
}

}  // namespace llmprof::compare
