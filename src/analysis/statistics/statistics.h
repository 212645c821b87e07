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

// Statistics of durations, in nanoseconds. Percentiles by nearest rank.
struct Statistics {
  uint64_t count = 0;
  double mean = 0;
  std::optional<double> std;  // of a sample (n - 1); none for fewer than two values
  Nanoseconds min = 0;
  Nanoseconds p50 = 0;
  Nanoseconds p99 = 0;
  Nanoseconds max = 0;
};

// All zero, including the count, if there are no values.
Statistics summarize(std::vector<Nanoseconds> values);
// The same, but may reorder the values.
Statistics summarize_reordering(std::span<Nanoseconds> values);

inline double as_double(Nanoseconds time) { return static_cast<double>(time); }

// The middle value; of an even number, the larger of the two middle ones. Needs at least one value.
template <class Value>
Value middle(std::vector<Value> values) {
  return upper_median(values);
}

// The entry with the largest count; of several, the first. Needs at least one entry.
template <class Counts>
auto most_frequent(const Counts& counts) {
  return *std::ranges::max_element(counts, {}, [](const auto& entry) { return entry.second; });
}

}  // namespace llmprof::analysis
