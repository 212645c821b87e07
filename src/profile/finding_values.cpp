#include "profile/finding_values.h"

#include <algorithm>

#include "base/text.h"

namespace llmprof::profile {

FindingValues& FindingValues::push(std::string_view name, std::optional<double> value,
                                   std::optional<std::string_view> unit,
                                   std::optional<std::string_view> text) {
  FindingValue& added = values_.emplace_back();
  added.name = name;
  added.value = value;
  if (unit) added.unit = *unit;
  if (text) added.text = to_printable(*text);
  return *this;
}

const FindingValue* find_value(const std::vector<FindingValue>& values, std::string_view name,
                               std::optional<std::string_view> of) {
  const auto found = std::ranges::find_if(values, [&](const FindingValue& value) {
    return value.name == name && (!of || value.text == *of);
  });
  return found == values.end() ? nullptr : &*found;
}

std::optional<double> find_number(const std::vector<FindingValue>& values, std::string_view name,
                                  std::optional<std::string_view> of) {
  const FindingValue* found = find_value(values, name, of);
  if (found == nullptr || found->unit) return std::nullopt;
  return found->value;
}

std::optional<std::string> find_text(const std::vector<FindingValue>& values,
                                     std::string_view name) {
  const FindingValue* found = find_value(values, name);
  if (found == nullptr || found->value) return std::nullopt;
  return found->text;
}

bool has_flag(const std::vector<FindingValue>& values, std::string_view name) {
  return find_text(values, name) == FindingValues::kYes;
}

}  // namespace llmprof::profile
