#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace llmprof {

// What the name of a value says about it: that of a variable, an option, a configuration key, a
// header, a parameter of a URL.
enum class Secrecy : uint8_t {
  open,
  unless_plain,   // secret if it looks like a token: the key in AWS_ACCESS_KEY_ID, not in key_dtype
  unless_number,  // prompt_tokens: 512
  unless_count,   // --pass 2; a longer number is a password
  always,
};

// By the words of the name. A word ends at anything but a letter or digit and before a capital:
// num_key_value_heads has the word "key", tokenizer does not have "token".
Secrecy secrecy_of(std::string_view name);

// Of "--api-key", "-k": of single letters, those that often stand for a key or a password.
Secrecy secrecy_of_option(std::string_view option);

// Whether a value is hidden, by what its name says.
bool is_hidden(Secrecy secrecy, std::string_view value);

// The value without its quotes.
std::string_view without_quotes(std::string_view text);

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
