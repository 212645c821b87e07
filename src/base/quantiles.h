#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

namespace llmprof {

// Each reorders the values, of which there is at least one.

template <class Value>
Value value_of_rank(std::span<Value> values, size_t rank) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(rank),
                   values.end());
  return values[rank];
}

// Of an even number of values, the larger of the two in the middle.
template <class Value>
Value upper_median(std::vector<Value>& values) {
  return value_of_rank(std::span(values), values.size() / 2);
}

// From 0: the smallest value that at least `fraction` of all values do not exceed.
inline size_t nearest_rank_of(size_t count, double fraction) {
  const double wanted = std::ceil(fraction * static_cast<double>(count));
  return std::max<size_t>(1, static_cast<size_t>(wanted)) - 1;
}
template <class Value>
Value nearest_rank(std::span<Value> values, double fraction) {
  return value_of_rank(values, nearest_rank_of(values.size(), fraction));
}
template <class Value>
Value nearest_rank(std::vector<Value>& values, double fraction) {
  return nearest_rank(std::span(values), fraction);
}

}  // namespace llmprof
