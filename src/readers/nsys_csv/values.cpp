#include "readers/nsys_csv/values.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/text.h"
#include "readers/shared/tool_words.h"

namespace llmprof::readers::nsys_csv {
namespace {

using UnitPower = std::optional<int> (*)(std::string_view);

// A number without thousands separators, and the unit after it.
struct Quantity {
  std::string_view number;
  int power = 0;
  std::string storage;  // holds the number if separators were removed
};

// Accepts "1,234,567" but not "1,5": commas may only separate thousands.
std::optional<std::string> without_separators(std::string_view number) {
  const size_t point = std::min(number.find('.'), number.size());
  std::string plain;
  for (const std::string_view group : split(number.substr(0, point), ',')) {
    const auto digits = std::count_if(group.begin(), group.end(), is_digit);
    if (digits == 0 || digits > 3 || (!plain.empty() && digits != 3)) return std::nullopt;
    plain += group;
  }
  plain += number.substr(point);
  return contains(plain, ",") ? std::nullopt : std::optional(plain);
}

bool take_quantity(std::string_view text, int column_power, UnitPower power_of,
                   Quantity& quantity) {
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

std::optional<int> no_unit(std::string_view) { return std::nullopt; }

}  // namespace

std::optional<int> byte_unit_power(std::string_view unit) {
  static constexpr std::pair<std::string_view, int> kUnits[] = {
      {"b", 0}, {"byte", 0}, {"bytes", 0}, {"kb", 3}, {"mb", 6}, {"gb", 9}};
  for (const auto& [name, power] : kUnits) {
    if (equals_ignoring_case(unit, name)) return power;
  }
  return std::nullopt;
}

std::optional<Nanoseconds> parse_time(std::string_view text, int unit_power) {
  if (unit_power == 0) {
    if (const auto plain = parse_int(text)) return plain;
  }
  Quantity quantity;
  if (!take_quantity(text, unit_power, time_unit_power, quantity)) return std::nullopt;
  return parse_scaled(quantity.number, quantity.power);
}

std::optional<double> parse_time_fraction(std::string_view text, int unit_power) {
  Quantity quantity;
  if (!take_quantity(text, unit_power, time_unit_power, quantity)) return std::nullopt;
  const auto value = parse_decimal(quantity.number);
  if (!value || !std::isfinite(*value)) return std::nullopt;
  return *value * std::pow(10, quantity.power);
}

std::optional<uint64_t> parse_bytes(std::string_view text, int unit_power) {
  Quantity quantity;
  if (!take_quantity(text, unit_power, byte_unit_power, quantity)) return std::nullopt;
  const auto value = parse_scaled(quantity.number, quantity.power);
  if (!value || *value < 0) return std::nullopt;
  return static_cast<uint64_t>(*value);
}

std::optional<uint64_t> parse_count(std::string_view text) {
  Quantity quantity;
  if (!take_quantity(text, 0, no_unit, quantity)) return std::nullopt;
  const auto value = parse_int(quantity.number);
  if (!value || *value < 0) return std::nullopt;
  return static_cast<uint64_t>(*value);
}

std::optional<uint32_t> parse_number(std::string_view text) {
  const auto value = parse_int(trim(text));
  if (!value || *value < 0 || *value > UINT32_MAX) return std::nullopt;
  return static_cast<uint32_t>(*value);
}

}  // namespace llmprof::readers::nsys_csv
