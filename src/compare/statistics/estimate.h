#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "compare/model/words.h"

namespace llmprof::compare {

// Values of one run, by time. Only values of one group are comparable.
struct Series {
  std::vector<double> values;
  std::vector<uint32_t> groups;  // one per value

  friend bool operator==(const Series&, const Series&) = default;
};

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

// `weights` are the groups' weights and sum to 1. If a side has several runs, runs are compared:
// values within a run do not show how far runs differ. None if a side has no value.
std::optional<Estimate> estimate(std::span<const Series> base, std::span<const Series> now,
                                 std::span<const double> weights, Statistic statistic);

// Like estimate(), for independent values: by ranks from five values per side, by Welch's t below
// that; one value against several by their spread.
Estimate independent_difference(std::span<const double> base, std::span<const double> now);

// How many of the smallest (and largest) pairwise differences a 95 % interval excludes, by the
// exact Mann-Whitney distribution; none if there are too few for such an interval.
std::optional<size_t> differences_left_out(size_t base, size_t now);

// How many consecutive values a block bootstrap must draw together to preserve their correlation:
// the automatic choice of Politis and White (2004), as corrected by Patton, Politis and White
// (2009), for circular blocks; but at least twice the cube root of their number, and at most a
// third of it.
size_t block_length(std::span<const double> values);

// Standard deviation of a sample.
double deviation(std::span<const double> values);

// The relative change that is detected with probability 0.8 if a 95 % interval reaches `half` to
// either side.
inline double smallest_seen(double threshold, double half) {
  // Quantiles of the normal distribution: for a probability of 0.8, and for half of that interval.
  constexpr double kPower = 0.8416;
  constexpr double kHalf = 1.96;
  return threshold + half * (1 + kPower / kHalf);
}

}  // namespace llmprof::compare
