#include "base/secrets/secret_names.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/text.h"

namespace llmprof {
namespace {

// The meaning of a word at the end of a name and elsewhere (auth_type, pass-through). In a plural
// or elsewhere in the name, numbers are treated as counts and identifiers (eos_token_id).
struct SecretWords {
  WordList words;
  Secrecy last;
  Secrecy elsewhere;
};
constexpr auto kSecretWords = std::to_array<SecretWords>({
    {{"secret|secrets|password|passwords|passwd|passphrase|passcode|pwd|credential|cred|"
      "credentials|creds|authorization|bearer|apikey|apikeys|authtoken|authkey|accesskey|secretkey|"
      "privatekey|accountkey|jwt|psk|cookie|cookies|sessionid|jsessionid|phpsessid"},
     Secrecy::always,
     Secrecy::always},
    {{"key|token"}, Secrecy::always, Secrecy::unless_number},
    {{"keys|tokens"}, Secrecy::unless_number, Secrecy::unless_number},
    {{"auth|oauth"}, Secrecy::always, Secrecy::open},
    {{"pass"}, Secrecy::unless_count, Secrecy::open},
    {{"pat"}, Secrecy::unless_plain, Secrecy::open},  // a personal access token
    {{"sig|signature"}, Secrecy::unless_number, Secrecy::open},
});
// At the end of a name with a key or a token, these words make it a property of that.
constexpr WordList kProperties = {
    "id|type|dtype|cache|heads|head|dim|dims|size|length|len|count|limit|budget|file|path|dir|"
    "folder|name|format|mode|style"};
// Tokens of a model's vocabulary.
constexpr WordList kVocabulary = {"bos|eos|pad|unk|sep|cls|mask|special|image|stop|start|decoder"};
constexpr WordList kNegations = {"no|skip|disable|without"};

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
  // A trailing number only counts secrets: API_KEY_2.
  while (words.size() > 1 && std::ranges::all_of(words.back(), is_digit)) words.pop_back();
  return words;
}

Secrecy secrecy_of_word(std::string_view word, bool is_last) {
  for (const SecretWords& row : kSecretWords) {
    if (row.words.contains(word)) return is_last ? row.last : row.elsewhere;
  }
  // clientsecret, DPASSWORD
  for (const std::string_view ending :
       {"password", "passwd", "secret", "apikey", "authorization"}) {
    if (word.ends_with(ending)) return Secrecy::always;
  }
  const bool is_glued = is_last && word.ends_with("token");  // hftoken
  return is_glued ? Secrecy::unless_number : Secrecy::open;
}

bool is_one_number(std::string_view text) {
  constexpr size_t kLongestCount = 12;
  if (text.starts_with('-')) text.remove_prefix(1);
  if (text.size() > 1 && std::string_view("kKmMgGbB").find(text.back()) != std::string_view::npos) {
    text.remove_suffix(1);  // 128k
  }
  return !text.empty() && text.size() <= kLongestCount &&
         std::ranges::all_of(text, [](char c) { return is_digit(c) || c == '.'; });
}

// A number, or a list of them: [1, 2]; 1,2.
bool is_number(std::string_view text) {
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  return std::ranges::all_of(split(text, ','),
                             [](std::string_view part) { return is_one_number(trim(part)); });
}

// Values that cannot be secret: switches, and tokens of a vocabulary (<s>, <|im_end|>, [MASK]).
bool is_harmless(std::string_view text) {
  constexpr WordList kWords = {
      "true|false|null|none|auto|all|yes|no|on|off|default|basic|digest|ntlm|negotiate"};
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), to_lower);
  if (lower.empty() || kWords.contains(lower)) return true;
  const bool tag = text.starts_with('<') && text.ends_with('>');
  return tag || (text.starts_with('[') && text.ends_with(']') && text.size() > 2 &&
                 std::all_of(text.begin() + 1, text.end() - 1, is_upper));
}

}  // namespace

Secrecy secrecy_of(std::string_view name) {
  const std::vector<std::string> words = words_of(name);
  if (words.empty() || kNegations.contains(words.front())) return Secrecy::open;
  Secrecy secrecy = Secrecy::open;
  for (size_t i = 0; i < words.size(); ++i) {
    secrecy = std::max(secrecy, secrecy_of_word(words[i], i + 1 == words.size()));
  }
  const bool of_vocabulary = std::ranges::any_of(
      words, [](const std::string& word) { return kVocabulary.contains(word); });
  const bool by_token = words.back() == "token" || words.back() == "tokens";
  const bool is_property = secrecy == Secrecy::unless_number && kProperties.contains(words.back());
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
