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

// What may stand before a path. A scope such as "jit(f)/layer" goes on after a bracket.
bool precedes_path(char c) {
  return is_blank(c) || contains("'\"`(=,;:<>[{|@", std::string_view(&c, 1));
}

bool is_in_path(char c) {
  return !is_blank(c) && !contains("'\"`()=,;:<>[]{}|", std::string_view(&c, 1));
}

// "/home/x", "~/x", "../x", "file:///x"; not "/" or "https://".
bool starts_full_path(std::string_view text) {
  for (const std::string_view start : {"file:///", "~/", "../", "./"}) {
    if (text.starts_with(start)) return true;
  }
  return text.size() > 1 && text[0] == '/' && text[1] != '/' && is_in_path(text[1]);
}

}  // namespace

std::string without_full_paths(std::string_view text) {
  if (text.find('/') == std::string_view::npos) return without_secrets(text);
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const bool may_start = at == 0 || precedes_path(text[at - 1]);
    if (!may_start || !starts_full_path(text.substr(at))) {
      out += text[at++];
      continue;
    }
    if (text.substr(at).starts_with("file:")) at += std::string_view("file:").size();
    size_t end = at;
    while (end < text.size() && is_in_path(text[end])) ++end;
    std::string_view path = text.substr(at, end - at);
    at = end;
    while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
    path.remove_prefix(path.rfind('/') + 1);
    out += path;
  }
  return without_secrets(out);
}

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
