#include "query/engine/statements.h"

#include <algorithm>

#include "base/text.h"

namespace llmprof::query {
namespace {

// The position after the text, name or comment that starts at `at`, or `at` if none does.
size_t skip_quoted(std::string_view text, size_t at) {
  const auto end_after = [&](std::string_view end, size_t from) {
    const size_t found = text.find(end, from);
    return found == std::string_view::npos ? text.size() : found + end.size();
  };
  const char c = text[at];
  if (c == '\'' || c == '"' || c == '`') return end_after({&c, 1}, at + 1);
  if (c == '[') return end_after("]", at + 1);
  if (text.substr(at).starts_with("--")) return end_after("\n", at + 2);
  if (text.substr(at).starts_with("/*")) return end_after("*/", at + 2);
  return at;
}

}  // namespace

Script cut_at_semicolons(std::string_view text) {
  Script script;
  size_t begin = 0;
  bool empty = true;  // nothing but blanks and comments
  for (size_t at = 0; at < text.size();) {
    if (const size_t after = skip_quoted(text, at); after > at) {
      empty = empty && (text[at] == '-' || text[at] == '/');
      at = after;
      continue;
    }
    if (text[at] == ';') {
      if (!empty) script.statements.emplace_back(trim(text.substr(begin, at - begin)));
      begin = at + 1;
      empty = true;
    } else if (!is_blank(text[at])) {
      empty = false;
    }
    ++at;
  }
  if (!empty) script.rest = trim(text.substr(begin));
  return script;
}

}  // namespace llmprof::query
