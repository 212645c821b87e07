#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "analysis/statistics.h"
#include "trace/tables.h"

namespace llmprof::report {

// Every number of a report is one that profile.json holds, rounded to the digits shown; a
// percentage is a fraction there. What stands for a missing number.
inline constexpr std::string_view kMissing = "-";

// Exact to the nanosecond: 57331089 is "57.331089".
std::string exact_ms(Nanoseconds time);
// Six digits behind the point, rounded.
std::string rounded_ms(double nanoseconds);
// Three digits, for stages and steps: "57.331".
std::string ms(double nanoseconds);
std::string ms(Nanoseconds time);
std::string ms(const std::optional<double>& nanoseconds);
// Four digits, for single launches and tokens: "0.0016".
std::string fine_ms(double nanoseconds);
std::string fine_ms(const std::optional<double>& nanoseconds);
// "1.777 ± 0.003", the deviation only where there is one.
std::string mean_and_std(const analysis::Statistics& statistics);

// 0.1234 is "12.3 %".
std::string percent(double fraction);
std::string percent(const std::optional<double>& fraction);
// 41227 is "41,227".
std::string grouped(uint64_t number);
// At most one digit: 462 is "462", 462.25 is "462.3".
std::string plain(double number);
// Of something a second: "562.7".
std::string rate(const std::optional<double>& per_second);
// 2.5e12, "FLOP" is "2.50 TFLOP".
std::string scaled(double number, std::string_view unit);
std::string scaled(const std::optional<double>& number, std::string_view unit);
// "1 kernel", "4,465 kernels".
std::string counted(uint64_t number, std::string_view one, std::string_view many = "");

}  // namespace llmprof::report
