#include "base/secrets/secret_names.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/ascii.h"

namespace llmprof {
namespace {

constexpr auto kAlwaysSecret = std::to_array<std::string_view>(
    {"secret",        "secrets",   "password",   "passwords",  "passwd",      "passphrase",
     "passcode",      "pwd",       "credential", "cred",       "credentials", "creds",
     "authorization", "bearer",    "apikey",     "apikeys",    "authtoken",   "authkey",
     "accesskey",     "secretkey", "privatekey", "accountkey", "jwt",         "psk",
     "cookie",        "cookies",   "sessionid",  "jsessionid", "phpsessid"});
// Words that end so: clientsecret, DPASSWORD.
constexpr auto kSecretEndings =
    std::to_array<std::string_view>({"password", "passwd", "secret", "apikey", "authorization"});
// Secrets at the end of a name (HF_TOKEN); elsewhere (auth_type, pass-through) they are not.
constexpr auto kSecretLast = std::to_array<std::string_view>({"auth", "oauth"});
// Elsewhere and in the plural, numbers are taken for counts and identifiers (eos_token_id).
constexpr auto kSecretLastElseNumber = std::to_array<std::string_view>({"key", "token"});
constexpr auto kSecretUnlessNumber = std::to_array<std::string_view>({"keys", "tokens"});
constexpr auto kSignatures = std::to_array<std::string_view>({"sig", "signature"});
// At the end of a name that contains a key or a token they make it a property of one.
constexpr auto kProperties = std::to_array<std::string_view>(
    {"id",   "type",   "dtype", "cache",  "heads", "head",   "dim",  "dims",
     "size", "length", "len",   "count",  "limit", "budget", "file", "path",
     "dir",  "folder", "name",  "format", "mode",  "style"});
// Tokens of a model's vocabulary.
constexpr auto kVocabulary =
    std::to_array<std::string_view>({"bos", "eos", "pad", "unk", "sep", "cls", "mask", "special",
                                     "image", "stop", "start", "decoder"});
constexpr auto kNegations = std::to_array<std::string_view>({"no", "skip", "disable", "without"});

template <size_t N>
bool is_among(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_word(char c) { return is_lower(c) || is_upper(c) || is_digit(c); }

// apiKey has two words, APIKEY is one.
std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words;
  bool inside = false;
  for (size_t i = 0; i < name.size(); ++i) {
    const bool begins = i > 0 && is_upper(name[i]) && is_lower(name[i - 1]);
    if (!is_word(name[i]) || begins) inside = false;
    if (!is_word(name[i])) continue;
    if (!inside) words.emplace_back();
    inside = true;
    words.back() += to_lower(name[i]);
  }
  // A number counts the secrets: API_KEY_2.
  const auto is_number = [](const std::string& word) {
    return std::all_of(word.begin(), word.end(), is_digit);
  };
  while (words.size() > 1 && is_number(words.back())) words.pop_back();
  return words;
}

Secrecy secrecy_of_word(std::string_view word, bool is_last) {
  if (is_among(kAlwaysSecret, word)) return Secrecy::always;
  if (std::any_of(kSecretEndings.begin(), kSecretEndings.end(),
                  [&](std::string_view ending) { return word.ends_with(ending); })) {
    return Secrecy::always;
  }
  if (is_among(kSecretLastElseNumber, word)) {
    return is_last ? Secrecy::always : Secrecy::unless_number;
  }
  if (is_among(kSecretUnlessNumber, word)) return Secrecy::unless_number;
  if (!is_last) return Secrecy::open;
  if (is_among(kSecretLast, word)) return Secrecy::always;
  if (word == "pass") return Secrecy::unless_count;
  if (word == "pat") return Secrecy::unless_plain;  // a personal access token
  const bool is_glued = word.ends_with("token");    // hftoken
  return is_glued || is_among(kSignatures, word) ? Secrecy::unless_number : Secrecy::open;
}

bool is_one_number(std::string_view text) {
  constexpr size_t kLongestCount = 12;
  if (text.starts_with('-')) text.remove_prefix(1);
  if (text.size() > 1 && std::string_view("kKmMgGbB").find(text.back()) != std::string_view::npos) {
    text.remove_suffix(1);  // 128k
  }
  return !text.empty() && text.size() <= kLongestCount &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_digit(c) || c == '.'; });
}

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// A number, or a list of them: [1, 2]; 1,2.
bool is_number(std::string_view text) {
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  while (true) {
    const size_t comma = text.find(',');
    if (!is_one_number(without_blanks(text.substr(0, comma)))) return false;
    if (comma == std::string_view::npos) return true;
    text.remove_prefix(comma + 1);
  }
}

// Values that cannot be secret: switches, and tokens of a vocabulary (<s>, <|im_end|>, [MASK]).
bool is_harmless(std::string_view text) {
  constexpr auto kWords = std::to_array<std::string_view>(
      {"", "true", "false", "null", "none", "auto", "all", "yes", "no", "on", "off", "default",
       "basic", "digest", "ntlm", "negotiate"});
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), to_lower);
  if (is_among(kWords, lower)) return true;
  const bool tag = text.starts_with('<') && text.ends_with('>');
  return tag || (text.starts_with('[') && text.ends_with(']') && text.size() > 2 &&
                 std::all_of(text.begin() + 1, text.end() - 1, is_upper));
}

}  // namespace

Secrecy secrecy_of(std::string_view name) {
  const std::vector<std::string> words = words_of(name);
  if (words.empty() || is_among(kNegations, words.front())) return Secrecy::open;
  Secrecy secrecy = Secrecy::open;
  for (size_t i = 0; i < words.size(); ++i) {
    secrecy = std::max(secrecy, secrecy_of_word(words[i], i + 1 == words.size()));
  }
  const bool of_vocabulary = std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return is_among(kVocabulary, word);
  });
  const bool by_token = words.back() == "token" || words.back() == "tokens";
  const bool is_property = secrecy == Secrecy::unless_number && is_among(kProperties, words.back());
  if (is_property || (of_vocabulary && by_token)) return Secrecy::unless_plain;
  return secrecy;
}

Secrecy secrecy_of_option(std::string_view option) {
  constexpr std::string_view kLetters = "kKtpPb";  // -b: a cookie of curl, a batch elsewhere
  const bool is_letter = option.size() == 2 && option.front() == '-';
  if (is_letter && kLetters.find(option.back()) != std::string_view::npos) {
    return Secrecy::unless_plain;
  }
  return secrecy_of(option);
}

bool is_hidden(Secrecy secrecy, std::string_view value) {
  constexpr size_t kMostDigits = 2;
  if (secrecy == Secrecy::open || is_harmless(value)) return false;
  switch (secrecy) {
    case Secrecy::unless_plain:
      return !is_number(value) && looks_like_token(value);
    case Secrecy::unless_number:
      return !is_number(value);
    case Secrecy::unless_count:
      return value.size() > kMostDigits || !is_number(value);
    default:
      return true;
  }
}

std::string_view without_quotes(std::string_view text) {
  const auto is_quote = [](char c) { return c == '"' || c == '\''; };
  while (!text.empty() && is_quote(text.front())) text.remove_prefix(1);
  while (!text.empty() && (is_quote(text.back()) || text.back() == ',' || text.back() == '}')) {
    text.remove_suffix(1);
  }
  return text;
}

}  // namespace llmprof
