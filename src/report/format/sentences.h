#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace llmprof::report {

// Both end with one full stop. A sentence stands alone, a clause follows a colon or "because":
// their first word, where it is no name, begins with a capital letter or not.
std::string sentence(std::string_view reason);
std::string clause(std::string_view reason);

// A finding's title or advice behind a colon: its first letter is small, unless it begins a name
// ("FlashAttention").
std::string after_colon(std::string_view words);

// "a", "a and b", "a, b and c"
std::string enumeration(const std::vector<std::string>& words);

}  // namespace llmprof::report
