#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/units.h"

namespace llmprof::readers::nsys_csv {

// The power of ten between a unit and its base: byte 0, KB 3, MB 6, GB 9.
std::optional<int> byte_unit_power(std::string_view unit);

// A time in a column of that unit, exact to the nanosecond and rounded beyond it. A unit after the
// value ("1.5 us") overrides the column's; thousands may be separated by commas.
std::optional<Nanoseconds> parse_time(std::string_view text, int unit_power);
// The same with fractions of a nanosecond, which medians have.
std::optional<double> parse_time_fraction(std::string_view text, int unit_power);
std::optional<uint64_t> parse_bytes(std::string_view text, int unit_power);
std::optional<uint64_t> parse_count(std::string_view text);
std::optional<uint32_t> parse_number(std::string_view text);

}  // namespace llmprof::readers::nsys_csv
