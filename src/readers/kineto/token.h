#pragma once

#include <simdjson.h>
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace llmprof::readers {

// A JSON scalar as it stands in the text, white space after it allowed: 12, "12", 12.0, null.

std::string_view without_blanks_behind(std::string_view token);

// Here, because they run several times per event.
inline bool is_string_token(std::string_view token) {
  if (!token.empty() && token.back() != '"') token = without_blanks_behind(token);
  return token.size() >= 2 && token.front() == '"' && token.back() == '"';
}
// The text of a string token between its quotes, escapes left in; of any other token the token
// itself.
inline std::string_view token_text(std::string_view token) {
  if (!token.empty() && token.back() != '"') token = without_blanks_behind(token);
  return is_string_token(token) ? token.substr(1, token.size() - 2) : token;
}

// A whole number from 0 to 2^64 - 1, quoted or not, also where it is written 12.0.
std::optional<uint64_t> token_unsigned(std::string_view token);
// Such a number where it fits 32 bits, else `otherwise`.
uint32_t token_uint32(std::string_view token, uint32_t otherwise = 0);

// Microseconds as a decimal number, exactly as nanoseconds: digits beyond the nanosecond are
// rounded, halves away from zero. Nothing for what is not a number or beyond +-2^62 ns (146 years),
// so that a start plus a duration cannot overflow.
std::optional<int64_t> token_nanoseconds(std::string_view microseconds);

// A string's meaning: escapes undone, printable UTF-8 (see to_printable). An escape that is no
// character becomes U+FFFD.
std::string unescaped(std::string_view text);
// The same, quick for the many texts that are their own meaning.
std::string string_meaning(std::string_view text);

// A value's text from its first character to the next structural one, never beyond `end`, the end
// of the JSON text: where that breaks off within a value, simdjson 3.0 takes any length for it. The
// byte at `end` must be 0, so that simdjson finds an error there and goes no further.
inline std::string_view json_token(simdjson::ondemand::value& value, const char* end) {
  const std::string_view token = value.raw_json_token();
  const auto left = static_cast<size_t>(std::max<std::ptrdiff_t>(end - token.data(), 0));
  return {token.data(), std::min(token.size(), left)};
}

}  // namespace llmprof::readers
