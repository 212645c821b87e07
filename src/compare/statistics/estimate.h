#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "compare/model/diff.h"

namespace llmprof::compare {

// Values of one run, by time. Only values of one group are comparable.
struct Series {
  std::vector<double> values;
  std::vector<uint32_t> groups;  // one per value

  friend bool operator==(const Series&, const Series&) = default;
};

// The difference between two sides, with its 95 % interval: the figures of a comparison. `weights`
// are the groups' weights and sum to 1. If a side has several runs, runs are compared: values
// within a run do not show how far runs differ. None if a side has no value.
std::optional<Comparison> estimate(std::span<const Series> base, std::span<const Series> now,
                                   std::span<const double> weights, Statistic statistic);

// Like estimate(), for independent values: by ranks from five values per side, by Welch's t below
// that; one value against several by their spread.
Comparison independent_difference(std::span<const double> base, std::span<const double> now);

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

// A series sorted once within its groups, so that resamples, given as a count per value, are
// evaluated without sorting.
class GroupedValues {
 public:
  GroupedValues(const Series& series, size_t groups);

  [[nodiscard]] size_t size() const { return values_.size(); }
  [[nodiscard]] size_t groups() const { return sorted_.size(); }
  // Each value once.
  [[nodiscard]] std::vector<uint32_t> as_recorded() const {
    return std::vector<uint32_t>(values_.size(), 1);
  }
  // Whether a resample has values of every group.
  [[nodiscard]] bool holds_all_groups(std::span<const uint32_t> drawn) const;

  // Location of one group. Percentiles by nearest rank; the median for a shift.
  [[nodiscard]] double location(Statistic statistic, size_t group,
                                std::span<const uint32_t> drawn) const;

  // Where to search for a shift, and how precisely: resamples of two series shift by about as much
  // as the series themselves.
  struct Near {
    double shift = 0;
    double distance = 0;   // expected maximum distance from `shift`; 0: unknown
    double precision = 0;  // 0: full precision of a double
  };
  // Hodges-Lehmann: the median of all differences `other` minus this, in one group.
  [[nodiscard]] double shift_to(const GroupedValues& other, size_t group,
                                std::span<const uint32_t> drawn,
                                std::span<const uint32_t> other_drawn, const Near& near) const;

 private:
  [[nodiscard]] double mean(size_t group, std::span<const uint32_t> drawn) const;
  [[nodiscard]] double nearest_rank(size_t group, std::span<const uint32_t> drawn,
                                    double fraction) const;
  [[nodiscard]] uint64_t count(size_t group, std::span<const uint32_t> drawn) const;

  std::vector<double> values_;
  std::vector<std::vector<uint32_t>> sorted_;  // rows of values_, per group
};

}  // namespace llmprof::compare
