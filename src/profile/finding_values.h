#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "profile/quantity.h"

namespace llmprof::profile {

// Evidence of a finding, or a value of a reason: a number with its unit, a text, or a number for
// what the text names ("kernel_time" of "norm").
struct FindingValue {
  std::string name;
  std::optional<double> value;
  std::optional<std::string> unit;
  std::optional<std::string> text;

  void fields(auto& field) const {
    field("name", name, "stable name; may occur with several texts");
    field("value", value, "the number; null if text is the value");
    field("unit", unit, "unit of the number: \"ms\", \"fraction\"; null for counts");
    field("text", text, "the value, or what the number belongs to, for example a kernel");
  }
};

// Keeps values in the order in which they are added. Makes texts printable.
class FindingValues {
 public:
  template <Unit U>
  FindingValues& add(std::string_view name, Quantity<U> quantity,
                     std::optional<std::string_view> of = std::nullopt) {
    return push(name, quantity.value, symbol(U), of);
  }
  // A number without a unit: a count (fractional if it is a mean) or a ratio.
  template <class Number>
    requires(std::is_arithmetic_v<Number> && !std::is_same_v<Number, bool>)
  FindingValues& add(std::string_view name, Number number,
                     std::optional<std::string_view> of = std::nullopt) {
    return push(name, static_cast<double>(number), std::nullopt, of);
  }
  FindingValues& add(std::string_view name, std::string_view text) {
    return push(name, std::nullopt, std::nullopt, text);
  }
  // As "yes" and "no".
  FindingValues& add(std::string_view name, std::same_as<bool> auto flag) {
    return add(name, flag ? kYes : kNo);
  }
  FindingValues& add_all(const FindingValues& more) {
    values_.insert(values_.end(), more.values_.begin(), more.values_.end());
    return *this;
  }

  [[nodiscard]] std::vector<FindingValue> take() && { return std::move(values_); }

  static constexpr std::string_view kYes = "yes";
  static constexpr std::string_view kNo = "no";

 private:
  FindingValues& push(std::string_view name, std::optional<double> value,
                      std::optional<std::string_view> unit, std::optional<std::string_view> text);

  std::vector<FindingValue> values_;
};

// The first value with this name and, if `of` is given, this text; null if there is none.
const FindingValue* find_value(const std::vector<FindingValue>& values, std::string_view name,
                               std::optional<std::string_view> of = std::nullopt);

// None if it is missing or has a unit.
std::optional<double> find_number(const std::vector<FindingValue>& values, std::string_view name,
                                  std::optional<std::string_view> of = std::nullopt);
std::optional<std::string> find_text(const std::vector<FindingValue>& values,
                                     std::string_view name);
// Flag of findings whose time includes an unknown tracing overhead.
inline constexpr std::string_view kTracingIncluded = "tracing_included";
// False if it is missing.
bool has_flag(const std::vector<FindingValue>& values, std::string_view name);

}  // namespace llmprof::profile
