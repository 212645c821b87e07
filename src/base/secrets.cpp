#include "base/secrets.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/ascii.h"

namespace llmprof {
namespace {

constexpr std::array<std::string_view, 12> kAlwaysSecret = {
    "secret", "secrets",    "password",    "passwords",     "passwd", "passphrase",
    "pwd",    "credential", "credentials", "authorization", "bearer", "apikey",
};
// Secrets at the end of a name (HF_TOKEN); elsewhere (eos_token_id) and in the plural, numbers are
// taken for counts and identifiers.
constexpr std::array<std::string_view, 2> kSecretAtTheEnd = {"key", "token"};
constexpr std::array<std::string_view, 2> kSecretUnlessNumber = {"keys", "tokens"};

enum class Secrecy : unsigned char { open, unless_number, always };

bool is_word(char c) { return is_lower(c) || is_upper(c) || is_digit(c); }
bool is_quote(char c) { return c == '"' || c == '\''; }

// Whether a new word begins at `at`: apiKey has two, APIKEY is one.
bool begins_word(std::string_view name, size_t at) {
  return at > 0 && is_upper(name[at]) && is_lower(name[at - 1]);
}

Secrecy secrecy_of_word(std::string_view word, bool is_last) {
  const auto is_among = [&](const auto& words) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  if (is_among(kAlwaysSecret)) return Secrecy::always;
  if (is_among(kSecretAtTheEnd)) return is_last ? Secrecy::always : Secrecy::unless_number;
  return is_among(kSecretUnlessNumber) ? Secrecy::unless_number : Secrecy::open;
}

Secrecy secrecy_of(std::string_view name) {
  Secrecy secrecy = Secrecy::open;
  std::string word;
  for (size_t i = 0; i < name.size(); ++i) {
    if (!is_word(name[i]) || begins_word(name, i)) {
      secrecy = std::max(secrecy, secrecy_of_word(word, false));
      word.clear();
    }
    if (is_word(name[i])) word += to_lower(name[i]);
  }
  return std::max(secrecy, secrecy_of_word(word, true));
}

bool is_one_number(std::string_view text) {
  constexpr size_t kLongestCount = 12;
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && text.size() <= kLongestCount &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_digit(c) || c == '.'; });
}

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// A number, or a list of them: [1, 2].
bool is_number(std::string_view text) {
  if (!text.starts_with('[') || !text.ends_with(']')) return is_one_number(text);
  text = text.substr(1, text.size() - 2);
  while (true) {
    const size_t comma = text.find(',');
    if (!is_one_number(without_blanks(text.substr(0, comma)))) return false;
    if (comma == std::string_view::npos) return true;
    text.remove_prefix(comma + 1);
  }
}

// Values that cannot be secret.
bool is_switch(std::string_view text) {
  return text.empty() || text == "true" || text == "false" || text == "null" || text == "None";
}

bool is_hidden(Secrecy secrecy, std::string_view value) {
  if (secrecy == Secrecy::open || is_switch(value)) return false;
  return secrecy == Secrecy::always || !is_number(value);
}

std::string_view without_quotes(std::string_view text) {
  while (!text.empty() && is_quote(text.front())) text.remove_prefix(1);
  while (!text.empty() && (is_quote(text.back()) || text.back() == ',' || text.back() == '}')) {
    text.remove_suffix(1);
  }
  return text;
}

// The name in front of a '=' or ':'.
std::string_view name_before(std::string_view text) {
  if (!text.empty() && is_quote(text.back())) text.remove_suffix(1);
  size_t begin = text.size();
  while (begin > 0 && (is_word(text[begin - 1]) || text[begin - 1] == '_' ||
                       text[begin - 1] == '-' || text[begin - 1] == '.')) {
    --begin;
  }
  return text.substr(begin);
}

// JSON members, and what looks like them: in other quotes, or escaped in a script.

struct Quote {
  char mark = '\0';
  size_t length = 0;  // 2 if it is escaped; 0: there is none
};

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

std::string without_secret_members(std::string_view text) {
  std::string told;
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
    told.append(text.substr(kept, value - kept)).append(kHiddenSecret);
    kept = end;
    at = end - 1;
  }
  return told.append(text.substr(kept));
}

bool is_member(std::string_view text, size_t colon) {
  while (colon > 0 && is_blank(text[colon - 1])) --colon;
  return colon > 0 && is_quote(text[colon - 1]);
}

// "https://user:password@host"
std::string without_password(std::string_view word) {
  constexpr std::string_view kScheme = "://";
  const size_t scheme = word.find(kScheme);
  if (scheme == std::string_view::npos) return std::string(word);
  const size_t begin = scheme + kScheme.size();
  const size_t at = word.substr(0, word.find('/', begin)).rfind('@');
  const size_t colon = word.find(':', begin);
  if (at == std::string_view::npos || colon >= at) return std::string(word);
  return std::string(word.substr(0, colon + 1)).append(kHiddenSecret).append(word.substr(at));
}

// Authentication schemes of the header Authorization.
bool is_scheme(std::string_view word) {
  constexpr std::array<std::string_view, 4> kSchemes = {"Basic", "Bearer", "Digest", "token"};
  return std::find(kSchemes.begin(), kSchemes.end(), word) != kSchemes.end();
}

// Word by word: the value of a name may be the next word.
class Words {
 public:
  // A whole argument, which may be a script of several words or a value that contains blanks.
  std::string recorded_argument(std::string_view argument) {
    const bool is_value = awaited_ != Secrecy::open && !argument.starts_with("--");
    if (is_value) return recorded(argument);
    const std::string safe = without_secret_members(argument);
    const bool is_option = argument.starts_with('-') && contains_sign(argument);
    return is_option ? recorded(safe) : recorded_words(safe);
  }

  std::string recorded_text(std::string_view text) {
    return recorded_words(without_secret_members(text));
  }

 private:
  static bool contains_sign(std::string_view word) {
    return word.find('=') != std::string_view::npos;
  }

  std::string recorded_words(std::string_view text) {
    std::string told;
    while (!text.empty()) {
      const auto* const blank = std::find_if(text.begin(), text.end(), is_blank);
      const auto length = static_cast<size_t>(blank - text.begin());
      if (length > 0) told += recorded(text.substr(0, length));
      text.remove_prefix(length);
      while (!text.empty() && is_blank(text.front())) {
        told += text.front();
        text.remove_prefix(1);
      }
    }
    return told;
  }

  std::string recorded(std::string_view word) {
    const Secrecy before = std::exchange(awaited_, Secrecy::open);
    const bool is_option = word.starts_with("--");
    if (before != Secrecy::open && !is_option) {
      // "Authorization: Bearer x": the scheme is not secret, what follows it is.
      if (is_scheme(without_quotes(word))) {
        awaited_ = Secrecy::always;
        return std::string(word);
      }
      if (is_hidden(before, without_quotes(word))) return std::string(kHiddenSecret);
      return std::string(word);
    }
    for (size_t i = 0; i < word.size(); ++i) {
      if (word[i] != '=' && (word[i] != ':' || is_member(word, i))) continue;
      const Secrecy secrecy = secrecy_of(name_before(word.substr(0, i)));
      const std::string_view value = without_quotes(word.substr(i + 1));
      if (secrecy != Secrecy::open && value.empty()) awaited_ = secrecy;
      if (is_hidden(secrecy, value)) {
        return std::string(word.substr(0, i + 1)).append(kHiddenSecret);
      }
    }
    if (word.starts_with('-') && !contains_sign(word)) {
      awaited_ = secrecy_of(word);
    }
    return without_password(word);
  }

  Secrecy awaited_ = Secrecy::open;  // of the value that the next word is
};

}  // namespace

bool names_a_secret(std::string_view name) { return secrecy_of(name) != Secrecy::open; }

std::string recorded_value(std::string_view name, std::string_view value) {
  if (is_hidden(secrecy_of(name), value)) return std::string(kHiddenSecret);
  return without_secrets(value);
}

std::string without_secrets(std::string_view text) { return Words().recorded_text(text); }

std::vector<std::string> without_secrets(std::span<const std::string> argv) {
  std::vector<std::string> recorded;
  recorded.reserve(argv.size());
  Words words;
  for (const std::string& word : argv) recorded.push_back(words.recorded_argument(word));
  return recorded;
}

}  // namespace llmprof
