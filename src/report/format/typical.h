#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "profile/quantity.h"

namespace llmprof::report {

using Times = profile::Statistics<profile::Milliseconds>;

// Whether a mean says little of single values: the deviation is above a quarter of it, or the
// longest of two or three values is more than half as long again as the shortest.
bool widely_spread(const Times& times);

// Two or three: a median of them says no more than the range.
bool is_few(const Times& times);

// What a headline says of some durations. The mean: "6.000 ms"; where that says little, the range
// of a few, "8.615 to 52.928 ms (2 prefills)", or the median of many, "65.120 ms (median; 50.201 to
// 187.693 ms in 46 engine steps)". `one` is the name of one value.
std::string typical_ms(const Times& times, std::string_view one);

// The same for a table or a tile, in parts.
struct Typical {
  std::string text;                            // in ms: "6.000", "8.615 to 52.928"
  std::optional<profile::Milliseconds> exact;  // of a range the mean
  std::string of;                              // "mean of 3 prefills"
};
Typical typical(const Times& times, std::string_view one, std::string_view many = {});

// "8.615 to 52.928"; "-" without values.
std::string range_ms(const Times& times);

}  // namespace llmprof::report
