#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace llmprof {

// Passwords, tokens and keys go to the programs that need them and into nothing that is written
// down. What is one is told by its name: of a variable (HF_TOKEN), an option (--api-key), a
// configuration's key (client_secret), a header (Authorization).

// What stands in records instead.
inline constexpr std::string_view kHiddenSecret = "***";

// Whether a word of the name says so: key, token, secret, password, credential and the like. Words
// end where anything but a letter or digit stands and where capitals begin: num_key_value_heads has
// the word "key", tokenizer not "token".
bool names_a_secret(std::string_view name);

// The value of a name, or what is written down instead. Numbers stay where they are counts or
// identifiers by their name (num_key_value_heads: 4, eos_token_id: 2).
std::string recorded_value(std::string_view name, std::string_view value);

// A text that may hold names and values: "HF_TOKEN=x python serve.py --api-key y", headers, JSON,
// "https://user:password@host". What follows such a name up to the next blank is hidden, of a
// member of JSON its whole value.
std::string without_secrets(std::string_view text);

// A command line, also with a value in the word behind its name (--api-key y).
std::vector<std::string> without_secrets(std::span<const std::string> argv);

}  // namespace llmprof
