#pragma once

#include <optional>
#include <span>

namespace llmprof::analysis {

// How much a series changes from one value to the next: the median of the slopes of all pairs
// (Theil and Sen), and its 95 % interval (Sen 1968, with Kendall's variance for ties). Single jumps
// do not move it. Long series are thinned out evenly.
struct Trend {
  double slope = 0;
  double lower = 0;
  double upper = 0;
};

// None for fewer than ten values.
std::optional<Trend> find_trend(std::span<const double> values);

}  // namespace llmprof::analysis
