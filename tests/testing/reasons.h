#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profile/reasons.h"

// What analysis gives as a reason, for tests that do not look at words.
namespace llmprof::testing {

using Kinds = std::vector<std::string>;

inline Kinds kinds_of(const profile::Reasons& reasons) {
  Kinds kinds;
  kinds.reserve(reasons.size());
  for (const profile::Reason& reason : reasons) kinds.emplace_back(to_string(reason.kind));
  return kinds;
}

// The value of that name of the last reason that has one; null without any.
inline const profile::FindingValue* value_of(const profile::Reasons& reasons,
                                             std::string_view name) {
  const profile::FindingValue* found = nullptr;
  for (const profile::Reason& reason : reasons) {
    if (const auto* value = profile::find_value(reason.values, name)) found = value;
  }
  return found;
}

// -1 where it is missing: no reason has a negative one.
inline double number_of(const profile::Reasons& reasons, std::string_view name) {
  const profile::FindingValue* value = value_of(reasons, name);
  return value == nullptr ? -1 : value->value.value_or(-1);
}

// The text, or where a number comes from; empty where it is missing.
inline std::string text_of(const profile::Reasons& reasons, std::string_view name) {
  const profile::FindingValue* value = value_of(reasons, name);
  return value == nullptr ? std::string() : value->text.value_or("");
}

}  // namespace llmprof::testing
