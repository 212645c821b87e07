#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace llmprof {

// There must be at least one value. Functions of a span reorder its values.

template <class Value>
Value value_of_rank(std::span<Value> values, size_t rank) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(rank),
                   values.end());
  return values[rank];
}

// Index from 0 of the smallest value that at least `fraction` of all values do not exceed.
inline size_t nearest_rank_of(size_t count, double fraction) {
  const double wanted = std::ceil(fraction * static_cast<double>(count));
  return std::max<size_t>(1, static_cast<size_t>(wanted)) - 1;
}
template <class Value>
Value nearest_rank(std::span<Value> values, double fraction) {
  return value_of_rank(values, nearest_rank_of(values.size(), fraction));
}

// The median is the percentile 50 by nearest rank: of an even number of values, the smaller of the
// two in the middle, so that it is always one of them.
constexpr size_t median_rank(size_t count) { return (count - 1) / 2; }
template <class Value>
Value median(std::span<Value> values) {
  return value_of_rank(values, median_rank(values.size()));
}
template <class Value>
Value median(std::vector<Value> values) {
  return median(std::span(values));
}

// The 97.5 % quantile of Student's distribution: half of a 95 % interval is this times the standard
// error. A table, because the quantile has no closed form and no linked library provides it.
inline double student_t_975(double degrees_of_freedom) {
  // Between two rows of the table, the lower degrees of freedom count, so that intervals are too
  // wide rather than too narrow.
  constexpr std::array kUpTo30 = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
                                  2.262,  2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
                                  2.110,  2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064,
                                  2.060,  2.056, 2.052, 2.048, 2.045, 2.042};
  constexpr std::array<std::pair<double, double>, 4> kBeyond = {
      {{1000, 1.962}, {120, 1.980}, {60, 2.000}, {40, 2.021}}};
  for (const auto& [degrees, quantile] : kBeyond) {
    if (degrees_of_freedom >= degrees) return quantile;
  }
  const double whole =
      std::clamp(std::floor(degrees_of_freedom), 1.0, static_cast<double>(kUpTo30.size()));
  return kUpTo30[static_cast<size_t>(whole) - 1];
}

}  // namespace llmprof
