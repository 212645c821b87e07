#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/quantiles.h"
#include "trace/tables.h"

namespace llmprof::analysis {

inline constexpr double kMedian = 0.50;
inline constexpr double kTail = 0.99;

// Of some durations, in nanoseconds. Percentiles by nearest rank.
struct Statistics {
  uint64_t count = 0;
  double mean = 0;
  std::optional<double> std;  // of a sample (n - 1); none below two values
  Nanoseconds min = 0;
  Nanoseconds p50 = 0;
  Nanoseconds p99 = 0;
  Nanoseconds max = 0;
};

// All zero, count included, without values.
Statistics summarize(std::vector<Nanoseconds> values);
// Likewise, of values that may be put into another order.
Statistics summarize_reordering(std::span<Nanoseconds> values);

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
