#include "base/secrets/secrets.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/text.h"

namespace llmprof {
namespace {

// A quotation mark, plain or escaped in a script.
struct Quote {
  char mark = '\0';
  size_t length = 0;  // 2 if it is escaped; 0: there is none
};

bool is_quote(char c) { return c == '"' || c == '\''; }

Quote quote_at(std::string_view text, size_t at) {
  if (at < text.size() && is_quote(text[at])) return {text[at], 1};
  const bool escaped = at + 1 < text.size() && text[at] == '\\' && is_quote(text[at + 1]);
  return escaped ? Quote{text[at + 1], 2} : Quote{};
}

// The position after the quotes that `quote` opens at `at`; npos: they are not closed.
size_t end_of_quotes(std::string_view text, size_t at, Quote quote) {
  for (at += quote.length; at < text.size(); ++at) {
    const Quote next = quote_at(text, at);
    if (next.mark == quote.mark && next.length == quote.length) return at + next.length;
    if (text[at] == '\\') ++at;
  }
  return std::string_view::npos;
}

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

// The position after the ':' of a member whose name starts at `at`; npos: there is none.
size_t value_of_member(std::string_view text, size_t at, std::string_view& name) {
  const Quote quote = quote_at(text, at);
  if (quote.length == 0) return std::string_view::npos;
  const size_t end = end_of_quotes(text, at, quote);
  if (end == std::string_view::npos) return end;
  name = text.substr(at + quote.length, end - at - 2 * quote.length);
  const size_t colon = skip_blanks(text, end);
  return colon < text.size() && text[colon] == ':' ? colon + 1 : std::string_view::npos;
}

// Hides the values of JSON members whose names say that they are secret; also in text that
// resembles JSON, with other quotes or escaped in a script.
std::string without_secret_members(std::string_view text) {
  std::string safe;
  size_t kept = 0;  // start of the text not copied yet
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

bool is_name(char c) { return is_identifier(c) || c == '-' || c == '.'; }

// The name before a '=' or ':'.
std::string_view name_before(std::string_view text) {
  if (!text.empty() && is_quote(text.back())) text.remove_suffix(1);
  size_t begin = text.size();
  while (begin > 0 && is_name(text[begin - 1])) --begin;
  return text.substr(begin);
}

// Whether this is a member of a JSON object; those are handled separately.
bool is_member(std::string_view text, size_t colon) {
  while (colon > 0 && is_blank(text[colon - 1])) --colon;
  return colon > 0 && is_quote(text[colon - 1]);
}

// Authentication schemes of the Authorization header: they are not secret, the text after them is.
bool is_scheme(std::string_view word) {
  return WordList{"Basic|Bearer|bearer|Digest|token|ApiKey"}.contains(word);
}

// Options that take "user:password" (curl).
bool takes_credentials(std::string_view option) {
  return WordList{"-u|--user|--proxy-user|-U"}.contains(option);
}

// The position after the first word of a text: blanks within quotes do not end it.
size_t end_of_word(std::string_view text) {
  size_t at = 0;
  while (at < text.size() && !is_blank(text[at])) {
    const bool may_open =
        at == 0 || std::string_view("=:,({[").find(text[at - 1]) != std::string_view::npos;
    const Quote quote = may_open ? quote_at(text, at) : Quote{};
    const size_t end = quote.length > 0 ? end_of_quotes(text, at, quote) : std::string_view::npos;
    at = end == std::string_view::npos ? at + 1 : end;
  }
  return at;
}

// The end of the value that starts at `at`: for a URL parameter, or one of several separated by
// ';', before the next one.
size_t end_of_value(std::string_view word, size_t name, size_t at) {
  if (name == 0) return word.size();
  const char before = word[name - 1];
  if (before != '?' && before != '&' && before != ';') return word.size();
  const std::string_view ends = before == ';' ? std::string_view(";\"'") : "&#\"'";
  return std::min(word.find_first_of(ends, at), word.size());
}

// Processes text word by word: the value of a name may be the next word.
class Words {
 public:
  // A complete argument, which may be a script of several words or a value that contains blanks.
  std::string recorded_argument(std::string_view argument) {
    if (awaits_value() && !is_option(argument)) return recorded_value_of_option(argument);
    return recorded_segment(without_secret_members(argument));
  }

  std::string recorded_text(std::string_view text) {
    return recorded_words(without_secret_members(text));
  }

 private:
  [[nodiscard]] bool awaits_value() const {
    return awaited_ != Secrecy::open || awaits_credentials_;
  }

  static bool is_option(std::string_view word) {
    return word.starts_with("--") || (word.size() == 2 && word.front() == '-');
  }

  // The content of one pair of quotes or of one argument.
  std::string recorded_segment(std::string_view text) {
    const size_t sign = text.find_first_of("=: \t\n");
    if (sign != std::string_view::npos && text[sign] != ' ') {
      const Secrecy secrecy = secrecy_of(text.substr(0, sign));
      const bool is_assignment = text.starts_with('-') && text[sign] == '=';
      const bool is_header =
          text[sign] == ':' && sign + 1 < text.size() && is_blank(text[sign + 1]);
      if (is_assignment) return recorded(text);
      if (is_header && secrecy != Secrecy::open) return recorded_header(text, sign + 1, secrecy);
    }
    return recorded_words(text);
  }

  // "Cookie: a=b; c=d", "Authorization: Bearer x"
  static std::string recorded_header(std::string_view text, size_t value, Secrecy secrecy) {
    while (value < text.size() && is_blank(text[value])) ++value;
    const size_t blank = text.find_first_of(" \t\n\r", value);
    if (blank < text.size() && is_scheme(text.substr(value, blank - value))) value = blank + 1;
    if (!is_hidden(secrecy, text.substr(value))) return std::string(text);
    return std::string(text.substr(0, value)).append(kHiddenSecret);
  }

  std::string recorded_words(std::string_view text) {
    std::string safe;
    while (!text.empty()) {
      const size_t length = end_of_word(text);
      if (length > 0) safe += recorded_quoted(text.substr(0, length));
      text.remove_prefix(length);
      while (!text.empty() && is_blank(text.front())) {
        safe += text.front();
        text.remove_prefix(1);
      }
    }
    return safe;
  }

  // A word of a text: its quoted part may be a header or a script.
  std::string recorded_quoted(std::string_view word) {
    const Quote quote = quote_at(word, 0);
    const bool is_whole = quote.length > 0 && end_of_quotes(word, 0, quote) == word.size();
    if (!is_whole) return recorded(word);
    const std::string_view inside = word.substr(quote.length, word.size() - 2 * quote.length);
    if (awaits_value() && !is_option(inside)) return recorded_value_of_option(word);
    return std::string(word.substr(0, quote.length))
        .append(recorded_segment(inside))
        .append(word.substr(word.size() - quote.length));
  }

  // The word after a name.
  std::string recorded_value_of_option(std::string_view word) {
    const std::string_view value = without_quotes(word);
    const Secrecy secrecy = std::exchange(awaited_, Secrecy::open);
    if (std::exchange(awaits_credentials_, false)) return without_credentials(word);
    // "Authorization: Bearer x": the scheme is not secret, the text after it is.
    if (is_scheme(value)) {
      awaited_ = Secrecy::always;
      return std::string(word);
    }
    return std::string(is_hidden(secrecy, value) ? kHiddenSecret : word);
  }

  // "1000:1000" are user and group numbers.
  static std::string without_credentials(std::string_view word) {
    const size_t colon = word.find(':');
    const bool numbers = std::ranges::all_of(word, [](char c) { return is_digit(c) || c == ':'; });
    if (colon == std::string_view::npos || numbers) return std::string(word);
    return std::string(word.substr(0, colon + 1)).append(kHiddenSecret);
  }

  std::string recorded(std::string_view word) {
    if (awaits_value() && !is_option(word)) return recorded_value_of_option(word);
    awaited_ = Secrecy::open;
    awaits_credentials_ = false;
    std::string safe;
    size_t kept = 0;  // start of the text not copied yet
    for (size_t i = 0; i < word.size(); ++i) {
      if (word[i] != '=' && (word[i] != ':' || is_member(word, i))) continue;
      const std::string_view name = name_before(word.substr(0, i));
      const Secrecy secrecy = secrecy_of_option(name);
      if (secrecy == Secrecy::open) continue;
      const size_t end = end_of_value(word, i - name.size(), i + 1);
      const std::string_view value = without_quotes(word.substr(i + 1, end - i - 1));
      if (value.empty() && end == word.size()) awaited_ = secrecy;
      if (!is_hidden(secrecy, value)) continue;
      safe.append(word.substr(kept, i + 1 - kept)).append(kHiddenSecret);
      kept = end;
      i = end - 1;
    }
    safe.append(word.substr(kept));
    if (word.starts_with('-') && word.find('=') == std::string_view::npos) {
      awaited_ = secrecy_of_option(word);
      awaits_credentials_ = takes_credentials(word);
    }
    // "Bearer x" anywhere.
    if (word == "Bearer") awaited_ = Secrecy::always;
    return safe;
  }

  Secrecy awaited_ = Secrecy::open;  // secrecy of the next word, if it is a value
  bool awaits_credentials_ = false;  // "user:password" is the next word
};

}  // namespace

bool names_a_secret(std::string_view name) { return secrecy_of(name) != Secrecy::open; }

std::string recorded_value(std::string_view name, std::string_view value) {
  if (is_hidden(secrecy_of(name), value)) return std::string(kHiddenSecret);
  return without_secrets(value);
}

std::string without_secrets(std::string_view text) {
  return Words().recorded_text(without_bare_tokens(text));
}

std::vector<std::string> without_secrets(std::span<const std::string> argv) {
  std::vector<std::string> recorded;
  recorded.reserve(argv.size());
  Words words;
  for (const std::string& word : argv) {
    recorded.push_back(words.recorded_argument(without_bare_tokens(word)));
  }
  return recorded;
}

}  // namespace llmprof
