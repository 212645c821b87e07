#include "compare/quantities/judging.h"

#include <algorithm>
#include <cmath>

#include "compare/statistics/estimate.h"
#include "profile/machine_load.h"

namespace llmprof::compare {
namespace {

// Share of a GPU's kernel time. In ten runs of one program on one H200 (tests/data/h200-repeats),
// two runs differed by at most 0.29 % in the longest class, and in others by less than their own
// steps.
constexpr double kKernels = 0.003;
// Share of a GPU's wall time: it varies with the host, whose delays are idle time on the GPU. In
// the same runs it differed by up to 21 % of the wall time, 23 % of which was idle.
constexpr double kMostOfWall = 0.25;
// Times on a CPU that ran nothing else: equal runs differ by 3 to 4 % (standard deviation).
constexpr double kQuietCpu = 1.2;
// Share of the wall time: the time of short operators depends on the contents of the caches.
constexpr double kOfWallOnCpu = 0.005;
// If the load is unknown: a second program doubles all times on two cores.
constexpr double kUnknownCpu = 2.1;

constexpr double kMostRuns = 1000;
// Runs per side from which an interval assumes nothing.
constexpr uint64_t kRunsWithoutAssumption = 5;

// Noise shrinks with the square root of the runs.
std::optional<uint64_t> runs_needed(double half, double missing, uint64_t runs) {
  if (half <= 0 || missing <= 0) return std::nullopt;
  const double factor = half / missing;
  const double needed = std::ceil(static_cast<double>(runs) * factor * factor);
  if (needed > kMostRuns) return std::nullopt;
  return static_cast<uint64_t>(std::max(needed, static_cast<double>(runs) + 1));
}

}  // namespace

std::optional<SingleRuns> SingleRuns::of(const Sides& sides) {
  if (sides.base.size() != 1 || sides.now.size() != 1) return std::nullopt;
  SingleRuns single;
  const profile::Context& base = sides.base.front().profile.context;
  const profile::Context& now = sides.now.front().profile.context;
  single.cpu_ = base.device_kind == profile::DeviceKind::cpu;
  single.base_load_ = profile::load_of_recording(base.load);
  single.now_load_ = profile::load_of_recording(now.load);
  for (const auto* context : {&base, &now}) {
    single.short_of_cpus_ =
        single.short_of_cpus_ || std::ranges::any_of(context->load, profile::cpus_were_short);
  }
  return single;
}

// Times on a CPU vary by factors: a second program slows down all operators.
double SingleRuns::widen_on_cpu(const Composition& made, Comparison& comparison) const {
  double base_factor = kUnknownCpu;
  double now_factor = kUnknownCpu;
  if (base_load_ != nullptr && now_load_ != nullptr) {
    base_factor = kQuietCpu * profile::most_slowed_down(*base_load_, made.base_stage_s);
    now_factor = kQuietCpu * profile::most_slowed_down(*now_load_, made.now_stage_s);
  }
  const double base = *comparison.base;
  const double always = kOfWallOnCpu * made.base_wall;
  comparison.low = std::max(base + *comparison.low, 0.0) / now_factor - base - always;
  comparison.high = (base + *comparison.high) * base_factor - base + always;
  return std::max(base_factor, now_factor) - 1;
}

double SingleRuns::widen_on_gpu(const Composition& made, Comparison& comparison) const {
  double margin = kKernels * std::abs(*comparison.base);
  if (made.of_host) {
    margin = kKernels * made.base_wall + std::min(made.most_idle, kMostOfWall * made.base_wall);
  }
  // Variation within a run and between runs is independent.
  const double low = *comparison.difference - *comparison.low;
  const double high = *comparison.high - *comparison.difference;
  comparison.low = *comparison.difference - std::hypot(low, margin);
  comparison.high = *comparison.difference + std::hypot(high, margin);
  if (made.of_host && short_of_cpus_) comparison.why_not = NoAnswer::shared_cpus;
  return *comparison.base == 0 ? 0 : margin / std::abs(*comparison.base);
}

void SingleRuns::widen(const Composition& made, Comparison& comparison) const {
  if (comparison.method == Method::identical || !comparison.base || !comparison.low) return;
  comparison.between_runs =
      Share{cpu_ ? widen_on_cpu(made, comparison) : widen_on_gpu(made, comparison)};
}

void judge(double threshold, Comparison& comparison) {
  comparison.answer = Answer::cannot_tell;
  if (!comparison.base || !comparison.difference) return;
  const double base = std::abs(*comparison.base);
  const bool nothing = base == 0 && *comparison.difference == 0;
  const auto over_base = [&](double value) { return Share{nothing ? 0 : value / base}; };
  if (base == 0 && !nothing) return;  // from zero to something: no relative change
  comparison.relative = over_base(*comparison.difference);
  if (!comparison.low || !comparison.high) return;
  const double half = (over_base(*comparison.high).value - over_base(*comparison.low).value) / 2;
  // A quantity cannot shrink below zero, although a symmetric interval may reach further.
  const double least = std::min(-base, *comparison.difference);
  comparison.low = std::max(*comparison.low, least);
  comparison.high = std::max(*comparison.high, least);
  comparison.relative_low = over_base(*comparison.low);
  comparison.relative_high = over_base(*comparison.high);
  const double low = comparison.relative_low->value;
  const double high = comparison.relative_high->value;
  comparison.differs = low > 0 || high < 0;
  comparison.smallest_seen = Share{smallest_seen(threshold, half)};
  if (low > threshold || high < -threshold) {
    comparison.answer = Answer::changed;
    comparison.direction =
        (low > 0) == comparison.lower_is_better ? Direction::worse : Direction::better;
  } else if (low >= -threshold && high <= threshold) {
    comparison.answer = Answer::unchanged;
  } else {
    const double missing = std::abs(std::abs(comparison.relative->value) - threshold);
    comparison.runs_needed =
        runs_needed(half, missing, std::min(comparison.base_runs, comparison.now_runs));
    if (comparison.between_runs && comparison.runs_needed) {
      comparison.runs_needed = std::max(*comparison.runs_needed, kRunsWithoutAssumption);
    }
  }
}

void withhold(Comparison& comparison) {
  comparison.answer = Answer::cannot_tell;
  comparison.direction.reset();
  comparison.differs = false;
  for (auto* end : {&comparison.low, &comparison.high}) end->reset();
  for (auto* end : {&comparison.relative_low, &comparison.relative_high}) end->reset();
  comparison.smallest_seen.reset();
  comparison.runs_needed.reset();
  comparison.between_runs.reset();
}

}  // namespace llmprof::compare
