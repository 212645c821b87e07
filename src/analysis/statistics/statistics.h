#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/quantiles.h"
#include "base/text.h"
#include "base/units.h"
#include "profile/quantity.h"
#include "trace/tables.h"

namespace llmprof::analysis {

inline constexpr double kTail = 0.99;

// Statistics of durations, in nanoseconds. Percentiles by nearest rank.
struct Summary {
  uint64_t count = 0;
  double mean = 0;
  std::optional<double> std;  // of a sample (n - 1); none for fewer than two values
  Nanoseconds min = 0;
  Nanoseconds p50 = 0;
  Nanoseconds p99 = 0;
  Nanoseconds max = 0;

  [[nodiscard]] double total() const { return mean * static_cast<double>(count); }
};

// All zero, including the count, if there are no values.
Summary summarize(std::vector<Nanoseconds> values);
// The same, but may reorder the values.
Summary summarize_reordering(std::span<Nanoseconds> values);

inline double as_double(Nanoseconds time) { return static_cast<double>(time); }

// The entry with the largest count; of several, the first. Needs at least one entry.
template <class Counts>
auto most_frequent(const Counts& counts) {
  return *std::ranges::max_element(counts, {}, [](const auto& entry) { return entry.second; });
}

// Launches of something, and their time. By the seed's contract, the mean is over max(calls, 1).
struct Calls {
  uint64_t calls = 0;
  Nanoseconds total = 0;

  Calls& operator+=(const Calls& more) {
    calls += more.calls;
    total += more.total;
    return *this;
  }
  [[nodiscard]] profile::Milliseconds mean() const {
    return profile::to_milliseconds(static_cast<double>(total) /
                                    static_cast<double>(calls == 0 ? 1 : calls));
  }
};

// Adds a row of a column that may be missing; 0 is unknown.
inline void add_known(std::optional<double>& sum, const std::vector<uint64_t>& column, size_t row) {
  if (row < column.size() && column[row] > 0) {
    sum = sum.value_or(0) + static_cast<double>(column[row]);
  }
}

// The time of all rows of a table.
template <class Table>
Nanoseconds total_time(const Table& table) {
  Nanoseconds sum = 0;
  for (size_t i = 0; i < table.size(); ++i) sum += table.end[i] - table.start[i];
  return sum;
}

// Converts the passes' plain numbers to quantities. A missing value is none, never 0.
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
  return percent ? quantity<profile::Share>(*percent / kPercent) : std::nullopt;
}

profile::Statistics<profile::Milliseconds> times(const Summary& statistics);
profile::Statistics<double> numbers(const Summary& statistics);

}  // namespace llmprof::analysis
