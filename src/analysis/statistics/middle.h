#pragma once

#include <algorithm>
#include <ranges>
#include <vector>

#include "base/quantiles.h"
#include "trace/tables.h"

namespace llmprof::analysis {

inline double as_double(Nanoseconds time) { return static_cast<double>(time); }

// The middle one; of an even number, the larger of the two. There is at least one.
template <class Value>
Value middle(std::vector<Value> values) {
  return upper_median(values);
}

// The entry of a map of counts with the largest; of several, the first. There is at least one.
template <class Counts>
auto most_frequent(const Counts& counts) {
  return *std::ranges::max_element(counts, {}, [](const auto& entry) { return entry.second; });
}

}  // namespace llmprof::analysis
