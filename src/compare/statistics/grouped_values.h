#pragma once

#include <span>
#include <vector>

#include "compare/statistics/estimate.h"

namespace llmprof::compare {

// A series sorted once within its groups, so that each resample of it, which is how often each
// value was drawn, is evaluated without sorting.
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

  // Of one group. Percentiles by nearest rank; of a shift, the median.
  [[nodiscard]] double location(Statistic statistic, size_t group,
                                std::span<const uint32_t> drawn) const;

  // Where a shift is sought, and how precisely it must be known: resamples of two series shift by
  // about what the series themselves do.
  struct Near {
    double shift = 0;
    double distance = 0;   // that it is expected to be within; 0: nothing is known of it
    double precision = 0;  // 0: to the digits of a double
  };
  // Hodges-Lehmann: the median of all differences `other` less this, in one group.
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
