#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "profile/quantity.h"
#include "report/document.h"

namespace llmprof::report {

// Every number in a report is from profile.json, rounded to the digits that one table (figures.cpp)
// sets for its kind.

// Shown instead of a missing number.
inline constexpr std::string_view kMissing = "-";

std::string text_of(const Figure& figure);
std::string text_of(const Cell& cell);

// The kind of a number, for units that determine it.
Figure::Of of_unit(profile::Unit unit);

// For stages, steps, gaps, requests, all kernels together, and savings there: "57.331".
Figure ms(std::optional<profile::Milliseconds> time);
// Per token, per step or per layer: "0.0016".
Figure fine_ms(std::optional<profile::Milliseconds> time);
// For one kernel or operator, exact to the nanosecond: "57.331089".
Figure exact_ms(std::optional<profile::Milliseconds> time);
// "1.777 ± 0.003"; without the deviation if there is none.
Figure mean_and_std(const profile::Statistics<profile::Milliseconds>& times);
Figure mean_and_std(std::optional<profile::Milliseconds> mean,
                    std::optional<profile::Milliseconds> std);

// "8.615 to 52.928"; "-" without values.
std::string range_ms(const profile::Statistics<profile::Milliseconds>& times);
// The typical value of some durations: "6.000", or the range of a few, "8.615 to 52.928"; and its
// number in profile.json, for a range the mean.
std::string typical_text(const profile::ShownTimes& times);
std::optional<profile::Milliseconds> typical_value(const profile::ShownTimes& times);
// "mean of 3 prefills", "median of 46 decodes; 50.201 to 187.693 ms".
std::string typical_of(const profile::ShownTimes& times, std::string_view one);
// In a sentence: "6.000 ms", "8.615 to 52.928 ms (2 prefills)", "65.120 ms (median; 50.201 to
// 187.693 ms in 46 engine steps)". `one` is the name of one value.
std::string typical_ms(const profile::ShownTimes& times, std::string_view one);
bool is_spread(const profile::ShownTimes& times);  // the mean is not meaningful

// 0.1234 is "12.3 %".
Figure percent(std::optional<profile::Share> share);
std::string round_percent(profile::Share share);  // 0.95 is "95 %"
// "1.234": the ratio of two quantities.
Figure ratio(std::optional<double> times);
Figure ratio(std::optional<profile::Share> times);
// 41227 is "41,227".
Figure grouped(uint64_t number);
// A mean of counts, at most one decimal: 462 is "462", 462.25 is "462.2".
Figure plain(std::optional<double> number);

// With the digits of its unit. Tokens per second (562.7), FLOP per byte (12.34), W (687.2) and
// degrees Celsius (81.0) are bare; others have their unit and its prefix: "2.50 TFLOP", "1755 MHz",
// "1.234 J".
template <profile::Unit U>
Figure in_unit(const std::optional<profile::Quantity<U>>& quantity) {
  return {of_unit(U), quantity ? std::optional(quantity->value) : std::nullopt, std::nullopt};
}
template <profile::Unit U>
Figure in_unit(const profile::Quantity<U>& quantity) {
  return in_unit(std::optional(quantity));
}

// For comparisons: 0.0612 is "+6.12 %"; "-0.0150" ms.
Figure change(std::optional<profile::Share> relative);
Figure time_change(std::optional<profile::Milliseconds> difference);

// "1 kernel", "4,465 kernels".
std::string counted(uint64_t number, std::string_view one, std::string_view many = "");
// "was" for 1, otherwise "were".
std::string_view were(uint64_t number);
// "x86 server", or the mark for a missing text.
std::string or_missing(const std::optional<std::string>& text);

}  // namespace llmprof::report

// A figure in a sentence has the same text as in a table.
template <>
struct fmt::formatter<llmprof::report::Figure> : fmt::formatter<std::string> {
  template <class Context>
  auto format(const llmprof::report::Figure& figure, Context& context) const {
    return fmt::formatter<std::string>::format(llmprof::report::text_of(figure), context);
  }
};
