#pragma once

#include <cstdint>
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

}  // namespace llmprof
