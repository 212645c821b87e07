#pragma once

#include <cstdint>
#include <vector>

#include "base/units.h"

namespace llmprof::exports {

// Something with a length in time, and what it is to who placed it.
struct Interval {
  Nanoseconds start = 0;
  Nanoseconds end = 0;
  uint8_t kind = 0;
  uint32_t row = 0;
};
using Lane = std::vector<Interval>;

// Whether intervals of one lane may lie within each other.
enum class Nesting : uint8_t { none, allowed };

// A track shows no two slices that overlap without one being inside the other. Distributes
// intervals over as few lanes as their order gives; each is in the order of starts, outer ones
// first.
std::vector<Lane> in_lanes(std::vector<Interval> intervals, Nesting nesting);

}  // namespace llmprof::exports
