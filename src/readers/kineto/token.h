#pragma once

#include <simdjson.h>
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace llmprof::readers {

// A JSON scalar in its original spelling, with optional white space after it: 12, "12", 12.0, null.

std::string_view without_blanks_behind(std::string_view token);

// Inline, because they run several times per event.
inline bool is_string_token(std::string_view token) {
  if (!token.empty() && token.back() != '"') token = without_blanks_behind(token);
  return token.size() >= 2 && token.front() == '"' && token.back() == '"';
}
// The text between the quotes of a string token, with escapes; any other token unchanged.
inline std::string_view token_text(std::string_view token) {
  if (!token.empty() && token.back() != '"') token = without_blanks_behind(token);
  return is_string_token(token) ? token.substr(1, token.size() - 2) : token;
}

// A whole number from 0 to 2^64 - 1, quoted or not, also if written as 12.0.
std::optional<uint64_t> token_unsigned(std::string_view token);
// Such a number if it fits in 32 bits, otherwise `otherwise`.
uint32_t token_uint32(std::string_view token, uint32_t otherwise = 0);

// Decimal microseconds, converted exactly to nanoseconds: digits beyond the nanosecond are rounded,
// halves away from zero. None for anything that is not a number or is beyond +-2^62 ns (146 years),
// so that a start plus a duration cannot overflow.
std::optional<int64_t> token_nanoseconds(std::string_view microseconds);

// A string's meaning: escapes decoded, printable UTF-8 (see to_printable). An escape that is not a
// character becomes U+FFFD.
std::string unescaped(std::string_view text);
// The same, faster for the many texts without escapes.
std::string string_meaning(std::string_view text);

// A value's text from its first character to the next structural one, never beyond `end`, the end
// of the JSON text: if that breaks off within a value, simdjson 3.0 may return any length. The byte
// at `end` must be 0, so that simdjson finds an error there and stops.
inline std::string_view json_token(simdjson::ondemand::value& value, const char* end) {
  const std::string_view token = value.raw_json_token();
  const auto left = static_cast<size_t>(std::max<std::ptrdiff_t>(end - token.data(), 0));
  return {token.data(), std::min(token.size(), left)};
}

}  // namespace llmprof::readers
