#pragma once

#include <cstdint>
#include <string_view>

namespace llmprof::readers {

// How a file writes numbers: 1,234.56 (point) or 1.234,56 (comma).
enum class DecimalConvention : uint8_t { point, comma };

enum class NcuNumber : uint8_t {
  value,
  none,              // blank, n/a, "no data", inf, nan, text
  other_convention,  // a number, but only in the other convention
};

// Reads a metric's cell. ncu writes numbers in the locale of the machine it ran on, so the
// convention is a property of the file, whatever the locale here:
//   - thousands come in groups of exactly three after one to three digits that do not begin with
//     0; so 1,234.56, 0.37, 2.880000 and 1,234,567 can only be point, 1.234,56, 0,37 and 2,880000
//     only comma;
//   - a file is read as point, which is ncu's English output, unless that leaves more values
//     unreadable than comma does (NcuLaunches::other_convention counts them);
//   - so a file with nothing but values like 1,234 (both conventions accept it) means a thousand.
// Blanks, apostrophes and no-break spaces between digits are thousands too. A trailing '%' and the
// instance list "(1; 2; 3)" after a value are ignored. Right to two units in the last place.
NcuNumber parse_ncu_number(std::string_view cell, DecimalConvention convention, double& value);

}  // namespace llmprof::readers
