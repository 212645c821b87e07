#include "base/secrets/quotes.h"

namespace llmprof {

bool is_quote(char c) { return c == '"' || c == '\''; }

Quote quote_at(std::string_view text, size_t at) {
  if (at < text.size() && is_quote(text[at])) return {text[at], 1};
  const bool escaped = at + 1 < text.size() && text[at] == '\\' && is_quote(text[at + 1]);
  return escaped ? Quote{text[at + 1], 2} : Quote{};
}

size_t end_of_quotes(std::string_view text, size_t at, Quote quote) {
  for (at += quote.length; at < text.size(); ++at) {
    const Quote next = quote_at(text, at);
    if (next.mark == quote.mark && next.length == quote.length) return at + next.length;
    if (text[at] == '\\') ++at;
  }
  return std::string_view::npos;
}

}  // namespace llmprof
