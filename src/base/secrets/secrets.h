#pragma once

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

}  // namespace llmprof
