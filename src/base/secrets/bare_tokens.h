#pragma once

#include <string>
#include <string_view>

namespace llmprof {

// What is recorded in place of a secret.
inline constexpr std::string_view kHiddenSecret = "***";

// Secrets that need no name to be recognized: tokens by the prefixes of those who issue them
// (ghp_, sk-, hf_, AKIA, ...), JSON web tokens, private keys in PEM, passwords in URLs. Each is
// replaced, what stands around it stays.
std::string without_bare_tokens(std::string_view text);

// Whether a value that may be a key is one: letters and digits mixed as in no word or number. A
// hint that is good enough only where the value's name is one, too (-k).
bool looks_like_token(std::string_view value);

}  // namespace llmprof
