#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <string_view>

#include "analysis/statistics/statistics.h"
#include "base/text.h"
#include "profile/quantity.h"

// Converts the passes' plain numbers to quantities. A missing value is none, never 0.
namespace llmprof::analysis {

using profile::to_milliseconds;
using profile::to_nanoseconds;

template <class Time>
std::optional<profile::Milliseconds> to_milliseconds(const std::optional<Time>& time) {
  if (!time) return std::nullopt;
  return profile::to_milliseconds(*time);
}

template <class Quantity>
std::optional<Quantity> quantity(const std::optional<double>& value) {
  if (!value) return std::nullopt;
  return Quantity{*value};
}

// Passes leave a number 0 if they do not know it.
template <class Quantity>
std::optional<Quantity> quantity_unless_zero(double value) {
  if (value == 0) return std::nullopt;
  return Quantity{value};
}

template <class Number>
std::optional<Number> unless_zero(Number number) {
  if (number == 0) return std::nullopt;
  return number;
}

inline std::optional<std::string> unless_empty(std::string_view text) {
  if (text.empty()) return std::nullopt;
  return to_printable(text);
}

inline std::optional<double> ratio(double part, double whole) {
  if (whole <= 0) return std::nullopt;
  return part / whole;
}

inline std::optional<profile::Share> share(double part, double whole) {
  return quantity<profile::Share>(ratio(part, whole));
}

template <std::integral Number>
std::optional<profile::Share> share(Number part, Number whole) {
  return share(static_cast<double>(part), static_cast<double>(whole));
}

inline std::optional<profile::Share> share_of_percent(const std::optional<double>& percent) {
  constexpr double kPercent = 100;
  return percent ? quantity<profile::Share>(*percent / kPercent) : std::nullopt;
}

profile::Statistics<profile::Milliseconds> times(const Statistics& statistics);
std::optional<profile::Statistics<profile::Milliseconds>> times(
    const std::optional<Statistics>& statistics);
profile::Statistics<double> numbers(const Statistics& statistics);

}  // namespace llmprof::analysis
