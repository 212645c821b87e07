#include <algorithm>
#include <cmath>

#include "compare/quantities/quantities.h"
#include "compare/statistics/estimate.h"

namespace llmprof::compare {
namespace {

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
