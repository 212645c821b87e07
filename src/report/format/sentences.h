#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profile/findings.h"

namespace llmprof::report {

// Both end with one full stop. A sentence stands alone; a clause follows a colon or "because".
// Their first word is capitalized or not accordingly, unless it is a name.
std::string sentence(std::string_view reason);
std::string clause(std::string_view reason);

// A finding's title or advice after a colon: its first letter is lowercase, unless it starts a name
// ("FlashAttention").
std::string after_colon(std::string_view words);

// "a", "a and b", "a, b and c"
std::string enumeration(const std::vector<std::string>& words);

// The `words` for each item, joined by `between`; empty ones are skipped.
template <class Items, class Words>
std::string joined(const Items& items, std::string_view between, const Words& words) {
  std::string text;
  for (const auto& item : items) {
    const std::string own = words(item);
    if (own.empty()) continue;
    if (!text.empty()) text += between;
    text += own;
  }
  return text;
}
inline std::string joined(const std::vector<std::string>& texts, std::string_view between) {
  return joined(texts, between, [](const std::string& text) { return text; });
}

// The unit of a finding's saving: "per request", "per engine step", "per 8 steps", "in the traced
// part of a request"; empty if unknown.
std::string per_unit(const profile::Finding& finding);

}  // namespace llmprof::report
