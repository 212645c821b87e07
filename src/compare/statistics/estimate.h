#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "compare/statistics/series.h"

namespace llmprof::compare {

// What the interval comes from.
enum class Method : uint8_t {
  identical,         // both sides hold the same values
  block_bootstrap,   // of the values of one run a side
  welch,             // Student's t: few values, or few runs
  rank_interval,     // all differences between runs, by the Mann-Whitney distribution
  one_against_runs,  // one run against the spread of several
  none,              // one value a side, or too few for a percentile
};
std::string_view to_string(Method method);

// The difference between two sides, with its 95 % interval.
struct Estimate {
  double base = 0;
  double now = 0;
  double difference = 0;
  std::optional<double> low;  // none: the uncertainty is unknown
  std::optional<double> high;
  Method method = Method::none;
  uint64_t base_count = 0;  // values
  uint64_t now_count = 0;
  uint64_t base_block = 0;  // values drawn together; 0 without a bootstrap
  uint64_t now_block = 0;
};

// `weights` are those of the groups, and sum to 1. A side with several runs is compared run by
// run: the values within a run say nothing of how far runs differ. None where a side has no value.
std::optional<Estimate> estimate(std::span<const Series> base, std::span<const Series> now,
                                 std::span<const double> weights, Statistic statistic);

// The same of one number per run.
std::optional<Estimate> estimate_runs(std::span<const double> base, std::span<const double> now);

// The relative change that would be called one with probability 0.8, where a 95 % interval reaches
// `half` to either side.
inline double smallest_seen(double threshold, double half) {
  // Quantiles of the normal distribution: of a probability of 0.8, and of half of that interval.
  constexpr double kPower = 0.8416;
  constexpr double kHalf = 1.96;
  return threshold + half * (1 + kPower / kHalf);
}

}  // namespace llmprof::compare
