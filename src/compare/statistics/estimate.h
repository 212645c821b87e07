#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "compare/model/words.h"
#include "compare/statistics/series.h"

namespace llmprof::compare {

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
