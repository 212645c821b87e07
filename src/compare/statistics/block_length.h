#pragma once

#include <cstddef>
#include <span>

namespace llmprof::compare {

// How many consecutive values a block bootstrap must draw together, so that what one value says of
// the next is kept: the automatic choice of Politis and White (2004), as corrected by Patton,
// Politis and White (2009), for circular blocks; but at least twice the cube root of their number,
// and at most a third of it.
size_t block_length(std::span<const double> values);

}  // namespace llmprof::compare
