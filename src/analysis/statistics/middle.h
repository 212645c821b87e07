#pragma once

#include <algorithm>
#include <ranges>
#include <vector>

#include "trace/tables.h"

namespace llmprof::analysis {

inline double as_double(Nanoseconds time) { return static_cast<double>(time); }

// The middle one; of an even number, the larger of the two. There is at least one.
template <class Value>
Value middle(std::vector<Value> values) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

// The entry of a map of counts with the largest; of several, the first. There is at least one.
template <class Counts>
auto most_frequent(const Counts& counts) {
  return *std::ranges::max_element(counts, {}, [](const auto& entry) { return entry.second; });
}

}  // namespace llmprof::analysis
