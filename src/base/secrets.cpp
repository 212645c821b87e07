#include "base/secrets.h"

#include <algorithm>
#include <array>
#include <utility>

namespace llmprof {
namespace {

constexpr std::array<std::string_view, 12> kAlwaysSecret = {
    "secret", "secrets",    "password",    "passwords",     "passwd", "passphrase",
    "pwd",    "credential", "credentials", "authorization", "bearer", "apikey",
};
// At the end of a name (HF_TOKEN) they are secrets, elsewhere (eos_token_id) and as plurals they
// may be counts and identifiers: numbers then.
constexpr std::array<std::string_view, 2> kSecretAtTheEnd = {"key", "token"};
constexpr std::array<std::string_view, 2> kSecretUnlessNumber = {"keys", "tokens"};

enum class Secrecy : unsigned char { open, unless_number, always };

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) { return is_lower(c) || is_upper(c) || is_digit(c); }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_quote(char c) { return c == '"' || c == '\''; }
char lower(char c) { return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c; }

// Where a word ends that goes on at `at`: apiKey, but APIKEY is one.
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
    if (is_word(name[i])) word += lower(name[i]);
  }
  return std::max(secrecy, secrecy_of_word(word, true));
}

// Of one number or, in JSON, several.
bool is_number(std::string_view text) {
  constexpr size_t kLongestCount = 12;
  if (text.starts_with('[') && text.ends_with(']')) {
    text = text.substr(1, text.size() - 2);
    const size_t comma = text.find(',');
    if (comma != std::string_view::npos) {
      return is_number(text.substr(0, comma)) &&
             is_number('[' + std::string(text.substr(comma + 1)) + ']');
    }
  }
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && text.size() <= kLongestCount &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_digit(c) || c == '.'; });
}

// Neither says anything that could be secret.
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

// Where a text in quotes ends, just behind them; npos: not in here.
size_t end_of_quotes(std::string_view text) {
  size_t at = 0;
  while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2U : 1U;
  return at < text.size() ? at + 1 : std::string_view::npos;
}

// Whether the quotes that a value begins with end in a later word.
bool opens_quotes(std::string_view value) {
  return value.starts_with('"') && end_of_quotes(value.substr(1)) == std::string_view::npos;
}

// How much of `text` is one value of a JSON object, where it is that and more follows.
size_t json_value_length(std::string_view text) {
  size_t end = 0;
  if (text.starts_with('"')) {
    end = end_of_quotes(text.substr(1));
    if (end != std::string_view::npos) ++end;
  } else if (text.starts_with('[')) {
    end = text.find(']');
    if (end != std::string_view::npos) ++end;
  } else {
    end = text.find_first_of(",}]");
  }
  const bool more =
      end < text.size() && std::string_view(",}]").find(text[end]) != std::string_view::npos;
  return more ? end : text.size();
}

// Of the header Authorization.
bool is_scheme(std::string_view word) {
  constexpr std::array<std::string_view, 4> kSchemes = {"Basic", "Bearer", "Digest", "token"};
  return std::find(kSchemes.begin(), kSchemes.end(), word) != kSchemes.end();
}

// Words one after the other: a name may have its value in the next.
class Words {
 public:
  // Of a whole argument, which may be a script of several words or a value with blanks in it.
  std::string recorded_argument(std::string_view argument) {
    in_hidden_quotes_ = false;
    const bool is_value = awaited_ != Secrecy::open && !argument.starts_with("--");
    const bool is_option =
        argument.starts_with('-') && argument.find('=') != std::string_view::npos;
    return is_value || is_option ? recorded(argument) : recorded_text(argument);
  }

  std::string recorded_text(std::string_view text) {
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

 private:
  std::string recorded(std::string_view word) {
    if (in_hidden_quotes_) {
      const size_t end = end_of_quotes(word);
      in_hidden_quotes_ = end == std::string_view::npos;
      return std::string(kHiddenSecret).append(word.substr(std::min(end, word.size())));
    }
    const Secrecy before = std::exchange(awaited_, Secrecy::open);
    if (before != Secrecy::open && !word.starts_with("--")) return recorded_value_of(before, word);
    std::string told;
    size_t kept = 0;  // where what is not yet told begins
    for (size_t i = 0; i < word.size(); ++i) {
      if (word[i] != '=' && word[i] != ':') continue;
      const Secrecy secrecy = secrecy_of(name_before(word.substr(0, i)));
      if (secrecy == Secrecy::open) continue;
      const bool in_json = i > 0 && word[i - 1] == '"' && word[i] == ':';
      std::string_view value = word.substr(i + 1);
      if (in_json) value = value.substr(0, json_value_length(value));
      if (without_quotes(value).empty()) awaited_ = secrecy;
      if (!is_hidden(secrecy, without_quotes(value))) continue;
      in_hidden_quotes_ = in_json && opens_quotes(value);
      told.append(word.substr(kept, i + 1 - kept)).append(kHiddenSecret);
      kept = i + 1 + value.size();
      i = kept - 1;
    }
    if (kept > 0) return told.append(word.substr(kept));
    if (word.starts_with('-') && word.find('=') == std::string_view::npos) {
      awaited_ = secrecy_of(word);
    }
    return without_password(word);
  }

  // Of a word that follows its name.
  std::string recorded_value_of(Secrecy secrecy, std::string_view word) {
    // "Authorization: Bearer x": the scheme is no secret, what follows it is.
    if (is_scheme(without_quotes(word))) {
      awaited_ = Secrecy::always;
      return std::string(word);
    }
    const size_t length = word.starts_with('"') ? json_value_length(word) : word.size();
    if (!is_hidden(secrecy, without_quotes(word.substr(0, length)))) return std::string(word);
    in_hidden_quotes_ = opens_quotes(word);
    return std::string(kHiddenSecret).append(word.substr(length));
  }

  Secrecy awaited_ = Secrecy::open;  // of the value that the next word is
  bool in_hidden_quotes_ = false;    // they end in this word or a later one
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
