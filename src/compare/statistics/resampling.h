#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>

#include "compare/model/words.h"

namespace llmprof::compare {

// Fixed, so that comparing the same two sides again gives the same interval.
using Random = std::mt19937_64;
inline constexpr uint64_t kSeed = 20261115;

// Fewer values have no bootstrap.
inline constexpr size_t kFewestForBootstrap = 8;

// A bootstrap of so many values draws so many resamples, unless that would take too long.
size_t resamples_of(size_t values);

// Draws circular blocks of consecutive values, as many values as there are: a count per value.
void draw(size_t length, Random& random, std::span<uint32_t> drawn);

// The share of the values that a percentile is not below; that of the median for other statistics.
double fraction_of(Statistic statistic);

// A percentile is unknown if too few values lie beyond it.
bool enough_beyond(size_t count, Statistic statistic);

// Half of the 95 % interval of an estimate whose resamples have this deviation. `blocks` is the
// smaller number of blocks of both sides, `freedom` the degrees of freedom of both.
double half_of_interval(double deviation, double blocks, double freedom);

}  // namespace llmprof::compare
