#pragma once

#include <algorithm>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "profile/reasons.h"

namespace llmprof::profile {

// In the messages of tests.
inline std::ostream& operator<<(std::ostream& out, const Reasons& reasons) {
  for (const Reason& reason : reasons) out << ' ' << to_string(reason.kind);
  return out;
}

}  // namespace llmprof::profile

// The reasons that analysis gives, for tests that ignore their words.
namespace llmprof::testing {

using Kinds = std::vector<std::string>;

inline Kinds kinds_of(const profile::Reasons& reasons) {
  Kinds kinds;
  kinds.reserve(reasons.size());
  for (const profile::Reason& reason : reasons) kinds.emplace_back(to_string(reason.kind));
  return kinds;
}

inline bool has_kind(const profile::Reasons& reasons, profile::ReasonKind kind) {
  return std::ranges::find(reasons, kind, &profile::Reason::kind) != reasons.end();
}

// The named value in the last reason that has it; null if none has.
inline const profile::FindingValue* value_of(const profile::Reasons& reasons,
                                             std::string_view name) {
  const profile::FindingValue* found = nullptr;
  for (const profile::Reason& reason : reasons) {
    if (const auto* value = profile::find_value(reason.values, name)) found = value;
  }
  return found;
}

// -1 if it is missing: no reason has a negative number.
inline double number_of(const profile::Reasons& reasons, std::string_view name) {
  const profile::FindingValue* value = value_of(reasons, name);
  return value == nullptr ? -1 : value->value.value_or(-1);
}

// The text, or the source of a number; empty if it is missing.
inline std::string text_of(const profile::Reasons& reasons, std::string_view name) {
  const profile::FindingValue* value = value_of(reasons, name);
  return value == nullptr ? std::string() : value->text.value_or("");
}

// None if it is missing or has another unit.
template <profile::Unit U>
std::optional<profile::Quantity<U>> find_quantity(
    const std::vector<profile::FindingValue>& values, std::string_view name,
    std::optional<std::string_view> of = std::nullopt) {
  const profile::FindingValue* found = profile::find_value(values, name, of);
  if (found == nullptr || !found->value || found->unit != symbol(U)) return std::nullopt;
  return profile::Quantity<U>{*found->value};
}

}  // namespace llmprof::testing
