#pragma once

#include <optional>
#include <string>
#include <string_view>
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

  static void fields(auto& field) {
    field("name", &FindingValue::name, "stable name; may occur with several texts");
    field("value", &FindingValue::value, "the number; null if text is the value");
    field("unit", &FindingValue::unit, "unit of the number: \"ms\", \"fraction\"; null for counts");
    field("text", &FindingValue::text,
          "the value, or what the number belongs to, for example a kernel");
  }
};

// Keeps values in the order in which they are added. Makes texts printable.
class FindingValues {
 public:
  template <Unit U>
  FindingValues& add(std::string_view name, Quantity<U> quantity,
                     std::optional<std::string> of = std::nullopt) {
    push(name, quantity.value, std::string(symbol(U)), std::move(of));
    return *this;
  }
  // A number without a unit: a count (fractional if it is a mean) or a ratio.
  FindingValues& add_number(std::string_view name, double number,
                            std::optional<std::string> of = std::nullopt);
  FindingValues& add_text(std::string_view name, std::string_view text);
  FindingValues& add_flag(std::string_view name, bool flag);  // as "yes" and "no"
  FindingValues& add_all(FindingValues more);

  [[nodiscard]] std::vector<FindingValue> take() && { return std::move(values_); }

 private:
  void push(std::string_view name, std::optional<double> value, std::optional<std::string> unit,
            std::optional<std::string> text);

  std::vector<FindingValue> values_;
};

// The first value with this name and, if `of` is given, this text; null if there is none.
const FindingValue* find_value(const std::vector<FindingValue>& values, std::string_view name,
                               std::optional<std::string_view> of = std::nullopt);

// None if it is missing or has another unit.
template <Unit U>
std::optional<Quantity<U>> find_quantity(const std::vector<FindingValue>& values,
                                         std::string_view name,
                                         std::optional<std::string_view> of = std::nullopt) {
  const FindingValue* found = find_value(values, name, of);
  if (found == nullptr || !found->value || found->unit != symbol(U)) return std::nullopt;
  return Quantity<U>{*found->value};
}
std::optional<double> find_number(const std::vector<FindingValue>& values, std::string_view name,
                                  std::optional<std::string_view> of = std::nullopt);
std::optional<std::string> find_text(const std::vector<FindingValue>& values,
                                     std::string_view name);
// Flag of findings whose time includes an unknown tracing overhead.
inline constexpr std::string_view kTracingIncluded = "tracing_included";
// False if it is missing.
bool has_flag(const std::vector<FindingValue>& values, std::string_view name);

}  // namespace llmprof::profile
