#pragma once

#include <string>
#include <string_view>

#include "analysis/statistics.h"

namespace llmprof::report {

// Whether a mean says little of single values: the deviation is above a quarter of it, or the
// longest of two or three values is more than half as long again as the shortest.
bool widely_spread(const analysis::Statistics& statistics);

// Two or three: a median of them says no more than the range.
bool is_few(const analysis::Statistics& statistics);

// What a headline says of some durations. The mean: "6.000 ms"; where that says little, the range
// of a few, "8.615 to 52.928 ms (2 prefills)", or the median of many, "65.120 ms (median; 50.201 to
// 187.693 ms in 46 engine steps)". `one` is the name of one value.
std::string typical_ms(const analysis::Statistics& statistics, std::string_view one);

// "8.615 to 52.928"; "-" without values.
std::string range_ms(const analysis::Statistics& statistics);

}  // namespace llmprof::report
