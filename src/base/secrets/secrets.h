#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace llmprof {

// Passwords, tokens and keys are passed to the programs that need them and are never written to a
// file. They are recognized by the name of a variable (HF_TOKEN), an option (--api-key), a
// configuration key (client_secret), a header (Authorization) or a URL parameter (sig), or by an
// issuer's prefix (ghp_...). `***` is recorded in their place.

// Whether a name says that its value may be secret.
bool names_a_secret(std::string_view name);

// The value of a name, or its replacement in records. Numbers stay if their name says that they are
// counts or identifiers (num_key_value_heads: 4, eos_token_id: 2).
std::string recorded_value(std::string_view name, std::string_view value);

// A text that may contain names and values: "HF_TOKEN=x python serve.py --api-key y", headers,
// JSON, "https://user:password@host". After a name that marks a secret, everything up to the next
// blank outside of quotes is hidden; in JSON, the member's entire value; in a URL, up to the next
// parameter.
std::string without_secrets(std::string_view text);

// A command line; a value may also be the argument after its name (--api-key y). An argument may be
// a script.
std::vector<std::string> without_secrets(std::span<const std::string> argv);

// What a name says about its value: the name of a variable, an option, a configuration key, a
// header or a URL parameter.
enum class Secrecy : uint8_t {
  open,
  unless_plain,   // secret if it looks like a token: the key in AWS_ACCESS_KEY_ID, not in key_dtype
  unless_number,  // prompt_tokens: 512
  unless_count,   // --pass 2; a longer number is a password
  always,
};

// Judges the words of the name. A word ends before a capital and at anything but a letter or digit:
// num_key_value_heads contains the word "key", tokenizer does not contain "token".
Secrecy secrecy_of(std::string_view name);

// For "--api-key", "-k": single letters count if they often stand for a key or a password.
Secrecy secrecy_of_option(std::string_view option);

// Whether to hide a value, given what its name says.
bool is_hidden(Secrecy secrecy, std::string_view value);

// The value without its quotes.
std::string_view without_quotes(std::string_view text);

// Recorded in place of a secret.
inline constexpr std::string_view kHiddenSecret = "***";

// Hides secrets that are recognized without a name: tokens by their issuers' prefixes (ghp_, sk-,
// hf_, AKIA, ...), JSON web tokens, private keys in PEM, passwords in URLs. The text around them
// stays.
std::string without_bare_tokens(std::string_view text);

// Whether a value that may be a key is one: it mixes letters and digits unlike any word or number.
// This is only reliable enough if the value's name also suggests a key (-k).
bool looks_like_token(std::string_view value);

}  // namespace llmprof
