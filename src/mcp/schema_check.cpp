#include "mcp/schema_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "base/text.h"

namespace llmprof::mcp {
namespace {

bool has_type(const Json& value, std::string_view type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  return type == "null" && value.is_null();
}

std::vector<std::string> texts_of(const Json& value) {
  if (value.is_string()) return {value.get<std::string>()};
  std::vector<std::string> texts;
  for (const Json& each : value) {
    texts.push_back(each.is_string() ? each.get<std::string>() : to_line(each));
  }
  return texts;
}

std::string fault_of_member(const std::string& key, const Json& properties) {
  std::vector<std::string_view> known;
  for (const auto& each : properties.items()) known.push_back(each.key());
  const std::string name = to_printable(shortened(key, 100));
  if (const auto close = nearest(key, known)) {
    return fmt::format("unknown argument '{}'; did you mean '{}'?", name, *close);
  }
  return known.empty()
             ? fmt::format("unknown argument '{}'; there are none", name)
             : fmt::format("unknown argument '{}'; available: {}", name, fmt::join(known, ", "));
}

std::string fault_of_object(const Json& value, const Json& schema) {
  for (const Json& name : member(schema, "required")) {
    if (!value.contains(name.get_ref<const std::string&>())) {
      return fmt::format("the argument '{}' is missing", name.get_ref<const std::string&>());
    }
  }
  const Json& properties = member(schema, "properties");
  const Json& others = member(schema, "additionalProperties");
  for (const auto& each : value.items()) {
    const Json& own = member(properties, each.key());
    if (own.is_null() && others == Json(false)) return fault_of_member(each.key(), properties);
    const Json& rule = own.is_null() ? others : own;
    if (!rule.is_object()) continue;
    if (auto fault = fault_of(each.value(), rule, to_printable(shortened(each.key(), 100)));
        !fault.empty()) {
      return fault;
    }
  }
  return {};
}

std::string fault_of_number(const Json& value, const Json& schema, const std::string& name) {
  const auto number = value.get<double>();
  const Json& least = member(schema, "minimum");
  const Json& most = member(schema, "maximum");
  if (least.is_number() && number < least.get<double>()) {
    return fmt::format("{} must be at least {}", name, to_line(least));
  }
  if (most.is_number() && number > most.get<double>()) {
    return fmt::format("{} must not exceed {}", name, to_line(most));
  }
  return {};
}

}  // namespace

std::string fault_of(const Json& value, const Json& schema, const std::string& name) {
  if (const Json& type = member(schema, "type"); !type.is_null()) {
    const auto types = texts_of(type);
    if (std::ranges::none_of(types, [&](const auto& each) { return has_type(value, each); })) {
      return fmt::format("{} must be of type {}", name, fmt::join(types, " or "));
    }
  }
  if (const Json& choices = member(schema, "enum"); choices.is_array()) {
    if (std::ranges::find(choices, value) == choices.end()) {
      return fmt::format("{} must be one of: {}", name, fmt::join(texts_of(choices), ", "));
    }
  }
  const Json& longest = member(schema, "maxLength");
  if (value.is_string() && longest.is_number() &&
      value.get_ref<const std::string&>().size() > longest.get<size_t>()) {
    return fmt::format("{} has more than {} bytes", name, longest.get<size_t>());
  }
  if (value.is_number()) return fault_of_number(value, schema, name);
  if (value.is_object()) return fault_of_object(value, schema);
  if (value.is_array()) {
    const Json& most = member(schema, "maxItems");
    if (most.is_number() && value.size() > most.get<size_t>()) {
      return fmt::format("{} has more than {} items", name, most.get<size_t>());
    }
    const Json& items = member(schema, "items");
    for (const Json& each : value) {
      if (!items.is_object()) break;
      if (auto fault = fault_of(each, items, "an item of " + name); !fault.empty()) return fault;
    }
  }
  return {};
}

}  // namespace llmprof::mcp
