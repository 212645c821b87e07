#include "readers/nsys_csv/values.h"

#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "base/ascii.h"
#include "base/text.h"

namespace llmprof::readers::nsys_csv {
namespace {

using UnitPower = std::optional<int> (*)(std::string_view);

// A number apart from the unit after it, without separators between thousands.
struct Quantity {
  std::string_view number;
  int power = 0;
  std::string storage;  // holds the number where separators had to go
};

// "1,234,567" but not "1,5": a comma that separates anything else than thousands is not a number.
std::optional<std::string> without_separators(std::string_view number) {
  std::string plain;
  size_t group = 0;
  bool separated = false;
  bool fraction = false;
  for (const char c : number) {
    if (c == ',') {
      if (fraction || group == 0 || group > 3 || (separated && group != 3)) return std::nullopt;
      separated = true;
      group = 0;
      continue;
    }
    if (c == '.') {
      if (separated && group != 3) return std::nullopt;
      fraction = true;
    } else if (is_digit(c)) {
      group += fraction ? 0 : 1;
    }
    plain += c;
  }
  if (separated && group != 3) return std::nullopt;
  return plain;
}

bool split(std::string_view text, int column_power, UnitPower power_of, Quantity& quantity) {
  text = trim(text);
  const size_t end = text.find_first_not_of("0123456789+-.,eE");
  quantity.number = text.substr(0, end);
  quantity.power = column_power;
  if (end != std::string_view::npos) {
    const auto power = power_of(trim(text.substr(end)));
    if (!power) return false;
    quantity.power = *power;
  }
  if (quantity.number.find(',') != std::string_view::npos) {
    auto plain = without_separators(quantity.number);
    if (!plain) return false;
    quantity.storage = std::move(*plain);
    quantity.number = quantity.storage;
  }
  return !quantity.number.empty();
}

double power_of_ten(int power) {
  constexpr std::array<double, 10> kPowers = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};
  return kPowers[static_cast<size_t>(power)];
}

// number * 10^power as an integer, without passing through a double.
std::optional<int64_t> scaled(std::string_view number, int power) {
  if (number.find_first_of("eE") != std::string_view::npos) {
    const auto value = parse_decimal(number);
    if (!value) return std::nullopt;
    const double result = std::round(*value * power_of_ten(power));
    if (!(std::abs(result) < 9.2e18)) return std::nullopt;
    return static_cast<int64_t>(result);
  }
  const bool negative = number.front() == '-';
  if (negative || number.front() == '+') number.remove_prefix(1);
  int64_t value = 0;
  bool any_digit = false;
  bool point = false;
  bool rounded = false;
  const auto append = [&](int digit) {
    return !__builtin_mul_overflow(value, 10, &value) &&
           !__builtin_add_overflow(value, digit, &value);
  };
  for (const char c : number) {
    if (c == '.' && !point) {
      point = true;
      continue;
    }
    if (!is_digit(c)) return std::nullopt;
    any_digit = true;
    if (!point) {
      if (!append(c - '0')) return std::nullopt;
    } else if (power > 0) {
      if (!append(c - '0')) return std::nullopt;
      --power;
    } else if (!rounded) {
      rounded = true;
      if (c >= '5' && __builtin_add_overflow(value, 1, &value)) return std::nullopt;
    }
  }
  if (!any_digit) return std::nullopt;
  for (; power > 0; --power) {
    if (!append(0)) return std::nullopt;
  }
  return negative ? -value : value;
}

std::optional<int> power_in(std::string_view unit,
                            std::initializer_list<std::pair<std::string_view, int>> units) {
  for (const auto& [name, power] : units) {
    if (equals_ignoring_case(unit, name)) return power;
  }
  return std::nullopt;
}

std::optional<int> no_unit(std::string_view) { return std::nullopt; }

}  // namespace

std::optional<int> time_unit_power(std::string_view unit) {
  return power_in(unit, {{"ns", 0},
                         {"nsec", 0},
                         {"nanosecond", 0},
                         {"nanoseconds", 0},
                         {"us", 3},
                         {"\xC2\xB5s", 3},
                         {"\xCE\xBCs", 3},
                         {"usec", 3},
                         {"microsecond", 3},
                         {"microseconds", 3},
                         {"ms", 6},
                         {"msec", 6},
                         {"millisecond", 6},
                         {"milliseconds", 6},
                         {"s", 9},
                         {"sec", 9},
                         {"second", 9},
                         {"seconds", 9}});
}

std::optional<int> byte_unit_power(std::string_view unit) {
  return power_in(unit, {{"b", 0}, {"byte", 0}, {"bytes", 0}, {"kb", 3}, {"mb", 6}, {"gb", 9}});
}

std::optional<Nanoseconds> parse_time(std::string_view text, int unit_power) {
  if (unit_power == 0) {
    if (const auto plain = parse_int(text)) return plain;
  }
  Quantity quantity;
  if (!split(text, unit_power, time_unit_power, quantity)) return std::nullopt;
  return scaled(quantity.number, quantity.power);
}

std::optional<double> parse_time_fraction(std::string_view text, int unit_power) {
  Quantity quantity;
  if (!split(text, unit_power, time_unit_power, quantity)) return std::nullopt;
  const auto value = parse_decimal(quantity.number);
  if (!value || !std::isfinite(*value)) return std::nullopt;
  return *value * power_of_ten(quantity.power);
}

std::optional<uint64_t> parse_bytes(std::string_view text, int unit_power) {
  Quantity quantity;
  if (!split(text, unit_power, byte_unit_power, quantity)) return std::nullopt;
  const auto value = scaled(quantity.number, quantity.power);
  if (!value || *value < 0) return std::nullopt;
  return static_cast<uint64_t>(*value);
}

std::optional<uint64_t> parse_count(std::string_view text) {
  Quantity quantity;
  if (!split(text, 0, no_unit, quantity)) return std::nullopt;
  const auto value = parse_int(quantity.number);
  if (!value || *value < 0) return std::nullopt;
  return static_cast<uint64_t>(*value);
}

std::optional<uint32_t> parse_number(std::string_view text) {
  const auto value = parse_int(trim(text));
  if (!value || *value < 0 || *value > UINT32_MAX) return std::nullopt;
  return static_cast<uint32_t>(*value);
}

std::optional<trace::Extent> parse_extent(std::string_view text) {
  trace::Extent extent{};
  size_t found = 0;
  while (!text.empty()) {
    if (!is_digit(text.front())) {
      text.remove_prefix(1);
      continue;
    }
    const size_t length = std::min(text.find_first_not_of("0123456789"), text.size());
    const auto value = parse_number(text.substr(0, length));
    if (!value || found == extent.size()) return std::nullopt;
    extent[found++] = *value;
    text.remove_prefix(length);
  }
  if (found != extent.size()) return std::nullopt;
  return extent;
}

}  // namespace llmprof::readers::nsys_csv
