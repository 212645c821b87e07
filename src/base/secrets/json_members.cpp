#include "base/secrets/json_members.h"

#include <algorithm>

#include "base/ascii.h"
#include "base/secrets/bare_tokens.h"
#include "base/secrets/quotes.h"
#include "base/secrets/secret_names.h"

namespace llmprof {
namespace {

size_t skip_blanks(std::string_view text, size_t at) {
  while (at < text.size() && is_blank(text[at])) ++at;
  return at;
}

// The position after the value at `at`; npos: its quotes or brackets are not closed.
size_t end_of_value(std::string_view text, size_t at) {
  size_t depth = 0;
  while (at < text.size()) {
    if (const Quote quote = quote_at(text, at); quote.length > 0) {
      at = end_of_quotes(text, at, quote);
      if (at == std::string_view::npos || depth == 0) return at;
      continue;
    }
    const char c = text[at];
    if (depth == 0 && (c == ',' || c == '}' || c == ']' || is_blank(c))) return at;
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && --depth == 0) return at + 1;
    ++at;
  }
  return depth == 0 ? at : std::string_view::npos;
}

// The position after the ':' of a member whose name begins at `at`; npos: there is none.
size_t value_of_member(std::string_view text, size_t at, std::string_view& name) {
  const Quote quote = quote_at(text, at);
  if (quote.length == 0) return std::string_view::npos;
  const size_t end = end_of_quotes(text, at, quote);
  if (end == std::string_view::npos) return end;
  name = text.substr(at + quote.length, end - at - 2 * quote.length);
  const size_t colon = skip_blanks(text, end);
  return colon < text.size() && text[colon] == ':' ? colon + 1 : std::string_view::npos;
}

}  // namespace

std::string without_secret_members(std::string_view text) {
  std::string safe;
  size_t kept = 0;  // start of what was not copied yet
  for (size_t at = 0; at < text.size(); ++at) {
    std::string_view name;
    size_t value = value_of_member(text, at, name);
    if (value == std::string_view::npos) continue;
    at = value - 1;
    const Secrecy secrecy = secrecy_of(name);
    if (secrecy == Secrecy::open) continue;
    value = skip_blanks(text, value);
    const size_t end = std::min(end_of_value(text, value), text.size());
    if (!is_hidden(secrecy, without_quotes(text.substr(value, end - value)))) continue;
    safe.append(text.substr(kept, value - kept)).append(kHiddenSecret);
    kept = end;
    at = end - 1;
  }
  return safe.append(text.substr(kept));
}

}  // namespace llmprof
