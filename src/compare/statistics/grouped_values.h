#pragma once

#include <span>
#include <vector>

#include "compare/statistics/estimate.h"

namespace llmprof::compare {

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
