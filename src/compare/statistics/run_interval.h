#pragma once

#include <optional>
#include <span>

#include "compare/statistics/estimate.h"

namespace llmprof::compare {

// The difference of two sides of which each value stands for itself, with a 95 % interval: by
// ranks from five values a side on, by Welch's t below; one value against several by their spread.
Estimate independent_difference(std::span<const double> base, std::span<const double> now);

// How many of the smallest (and of the largest) pairwise differences a 95 % interval leaves out,
// by the exact Mann-Whitney distribution; none where even all of them are too few.
std::optional<size_t> differences_left_out(size_t base, size_t now);

}  // namespace llmprof::compare
