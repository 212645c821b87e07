#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/text.h"
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
Figure::Of of_unit(Unit unit);

template <Unit U>
Figure figure(Figure::Of of, const std::optional<Quantity<U>>& quantity) {
  return {of, quantity ? std::optional(quantity->value) : std::nullopt, std::nullopt};
}

using Time = std::optional<Milliseconds>;
// For stages, steps, gaps, requests, all kernels together, and savings there: "57.331".
inline Figure ms(Time time) { return figure(Figure::Of::stage_time, time); }
// Per token, per step or per layer: "0.0016".
inline Figure fine_ms(Time time) { return figure(Figure::Of::token_time, time); }
// For one kernel or operator, exact to the nanosecond: "57.331089".
inline Figure exact_ms(Time time) { return figure(Figure::Of::kernel_time, time); }
// "1.777 ± 0.003"; without the deviation if there is none.
Figure mean_and_std(Time mean, Time std);
inline Figure mean_and_std(const Statistics<Milliseconds>& times) {
  return mean_and_std(times.mean, times.std);
}

// "8.615 to 52.928"; "-" without values.
std::string range_ms(const Statistics<Milliseconds>& times);
// The typical value of some durations: "6.000", or the range of a few, "8.615 to 52.928"; and its
// number in profile.json, for a range the mean.
std::string typical_text(const ShownTimes& times);
Time typical_value(const ShownTimes& times);
// "mean of 3 prefills", "median of 46 decodes; 50.201 to 187.693 ms".
std::string typical_of(const ShownTimes& times, std::string_view one);
// In a sentence: "6.000 ms", "8.615 to 52.928 ms (2 prefills)", "65.120 ms (median; 50.201 to
// 187.693 ms in 46 engine steps)". `one` is the name of one value.
std::string typical_ms(const ShownTimes& times, std::string_view one);
// Whether the mean is not meaningful.
inline bool is_spread(const ShownTimes& times) { return times.typical != Typical::mean; }

using Fraction = std::optional<Share>;
// 0.1234 is "12.3 %".
inline Figure percent(Fraction share) { return figure(Figure::Of::share, share); }
// Without trailing zeros: 0.95 is "95 %".
inline std::string round_percent(Share share) { return fmt::format("{:g} %", share.value * 100); }
// "1.234": the ratio of two quantities.
inline Figure ratio(std::optional<double> times) { return {Figure::Of::ratio, times, {}}; }
inline Figure ratio(Fraction times) { return figure(Figure::Of::ratio, times); }
// A count or a mean of counts, at most one decimal: 41227 is "41,227", 462.25 is "462.2".
inline Figure plain(std::optional<double> number) { return {Figure::Of::count, number, {}}; }
inline Figure grouped(uint64_t number) { return plain(static_cast<double>(number)); }

// With the digits of its unit. Tokens per second (562.7), FLOP per byte (12.34), W (687.2) and
// degrees Celsius (81.0) are bare; others have their unit and its prefix: "2.50 TFLOP", "1755 MHz",
// "1.234 J".
template <Unit U>
Figure in_unit(const std::optional<Quantity<U>>& quantity) {
  return figure(of_unit(U), quantity);
}
template <Unit U>
Figure in_unit(const Quantity<U>& quantity) {
  return in_unit(std::optional(quantity));
}

// For comparisons: 0.0612 is "+6.12 %"; "-0.0150" ms.
inline Figure change(Fraction relative) { return figure(Figure::Of::change, relative); }
inline Figure time_change(Time difference) { return figure(Figure::Of::time_change, difference); }
// "+200.00 MB".
inline Figure bytes_change(std::optional<Bytes> difference) {
  return figure(Figure::Of::bytes_change, difference);
}

inline std::string_view were(uint64_t number) { return number == 1 ? "was" : "were"; }
// "x86 server", or the mark for a missing text.
inline std::string or_missing(const std::optional<std::string>& text) {
  return text.value_or(std::string(kMissing));
}

}  // namespace llmprof::report

// A figure in a sentence has the same text as in a table.
template <>
struct fmt::formatter<llmprof::report::Figure> : fmt::formatter<std::string> {
  template <class Context>
  auto format(const llmprof::report::Figure& figure, Context& context) const {
    return fmt::formatter<std::string>::format(llmprof::report::text_of(figure), context);
  }
};
