#include "query/described/without_paths.h"

#include "base/secrets/secrets.h"
#include "base/text.h"

namespace llmprof::query {
namespace {

bool ends_path(char c) {
  return is_blank(c) || c == '\'' || c == '"' || c == '`' || c == '(' || c == ')' || c == ',' ||
         c == ';' || c == '<' || c == '>' || c == '=';
}

// "tokens/s" and "24/7" are no paths; "/home/x/y", "../x" and "runs/a/b.sqlite" are.
bool is_path(std::string_view word) {
  if (word.find('/') == std::string_view::npos) return false;
  if (word.front() == '/' || word.front() == '~' || word.front() == '.') return true;
  const std::string_view last = word.substr(word.rfind('/') + 1);
  return last.find('.') != std::string_view::npos || split(word, '/').size() > 2;
}

}  // namespace

std::string without_paths(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    if (ends_path(text[at])) {
      out += text[at++];
      continue;
    }
    size_t end = at;
    while (end < text.size() && !ends_path(text[end])) ++end;
    std::string_view word = text.substr(at, end - at);
    at = end;
    if (is_path(word)) {
      while (word.size() > 1 && word.back() == '/') word.remove_suffix(1);
      word.remove_prefix(word.rfind('/') + 1);
    }
    out += word;
  }
  return without_secrets(out);
}

}  // namespace llmprof::query
