#include "base/secrets/secrets.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/text.h"

namespace llmprof {
namespace {

bool is_letter(char c) { return is_lower(c) || is_upper(c); }
bool is_alphanumeric(char c) { return is_letter(c) || is_digit(c); }

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

// apiKey has two words, APIKEY is one.
std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words;
  bool inside = false;
  for (size_t i = 0; i < name.size(); ++i) {
    const bool begins = i > 0 && is_upper(name[i]) && is_lower(name[i - 1]);
    if (!is_alphanumeric(name[i]) || begins) inside = false;
    if (!is_alphanumeric(name[i])) continue;
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

// A number, a range or a list of them: 16:256; [1, 2]; 1,2.
bool is_number(std::string_view text) {
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  return std::ranges::all_of(split(text, ','), [](std::string_view part) {
    return std::ranges::all_of(split(trim(part), ':'), is_one_number);
  });
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

// Characters of tokens after their prefix.
constexpr std::string_view kDashed =
    "-_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
constexpr std::string_view kAlphanumeric = kDashed.substr(2);
constexpr std::string_view kCapitals = kAlphanumeric.substr(26);
constexpr std::string_view kDotted =
    ".-_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
constexpr std::string_view kPath =
    "/-_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

// Prefixes that issuers give their tokens, and the minimum number of characters that follow. No
// ordinary word starts with one of these.
struct TokenForm {
  std::string_view prefixes;
  std::string_view alphabet;
  size_t least;
};
constexpr auto kTokenForms = std::to_array<TokenForm>({
    {"ghp_ gho_ ghu_ ghs_ ghr_", kAlphanumeric, 6},          // GitHub
    {"github_pat_ glpat- dckr_pat_", kDashed, 6},            // GitHub, GitLab, Docker
    {"xoxa- xoxb- xoxe- xoxp- xoxr- xoxs-", kDashed, 6},     // Slack
    {"xoxe.", kDotted, 6},                                   //
    {"hooks.slack.com/services/", kPath, 6},                 //
    {"xapp- gldt- glrt- glcbt- glptt- glsa_", kDashed, 12},  // Slack, GitLab, Grafana
    {"AKIA ASIA", kCapitals, 12},                            // Amazon
    {"AIza pypi- xai-", kDashed, 20},                        // Google, PyPI, xAI
    {"ya29.", kDotted, 10},                                  // Google
    {"nvapi- tskey- AGE-SECRET-KEY-", kDashed, 10},          // NVIDIA, Tailscale, age
    {"api_org_ dop_v1_ lin_api_", kAlphanumeric, 12},        // Hugging Face, DigitalOcean, Linear
    {"sk_live_ sk_test_ rk_live_ rk_test_ whsec_", kDashed, 8},  // Stripe
    {"npm_ r8_ gsk_", kAlphanumeric, 20},                        // npm, Replicate, Groq
    {"pplx-", kDashed, 16},                                      // Perplexity
    {"hvs.", kDotted, 16},                                       // Vault
    {"SG.", kDotted, 30},                                        // SendGrid
});

size_t length_of_run(std::string_view text, std::string_view alphabet) {
  return std::min(text.find_first_not_of(alphabet), text.size());
}

bool has_digit(std::string_view text) { return std::ranges::any_of(text, is_digit); }

// How often letters and digits alternate: 1 in "bfloat16", 3 in "s3cr3".
size_t changes_in(std::string_view text) {
  size_t changes = 0;
  for (size_t i = 1; i < text.size(); ++i) {
    if (is_digit(text[i]) != is_digit(text[i - 1])) ++changes;
  }
  return changes;
}

// OpenAI, Anthropic and services that follow their format: "sk-" also starts ordinary words
// (sk-learn-tests).
size_t length_after_sk(std::string_view rest) {
  constexpr size_t kLong = 16;
  constexpr size_t kShort = 8;
  const size_t length = length_of_run(rest, kDashed);
  const std::string_view body = rest.substr(0, length);
  const bool one_run = body.find_first_of("-_") == std::string_view::npos;
  const bool has_capital = std::ranges::any_of(body, is_upper);
  const bool is_long = length >= kLong && (one_run || has_capital || has_digit(body));
  return is_long || (length >= kShort && has_digit(body)) ? length : 0;
}

// Hugging Face: "hf_" also starts names of files and functions (hf_llm.py, hf_generate).
size_t length_after_hf(std::string_view rest) {
  constexpr size_t kLong = 16;
  constexpr size_t kShort = 12;
  const size_t length = length_of_run(rest, kAlphanumeric);
  if (length < rest.size() && (rest[length] == '_' || rest[length] == '-')) return 0;
  const bool mixed = changes_in(rest.substr(0, length)) > 1;
  return length >= kLong || (length >= kShort && mixed) ? length : 0;
}

// A JSON web token: two or more base64 parts, the first of which is an object.
size_t length_after_eyj(std::string_view rest) {
  constexpr size_t kHeader = 6;
  constexpr size_t kPayload = 4;
  const size_t header = length_of_run(rest, kDashed);
  if (header < kHeader || header >= rest.size() || rest[header] != '.') return 0;
  if (length_of_run(rest.substr(header + 1), kDashed) < kPayload) return 0;
  return length_of_run(rest, kDotted);
}

// The length of the token at the start of a text; 0: there is none.
size_t length_of_token(std::string_view text) {
  for (const TokenForm& issued : kTokenForms) {
    for (const std::string_view prefix : split(issued.prefixes, ' ')) {
      if (!text.starts_with(prefix)) continue;
      const size_t length = length_of_run(text.substr(prefix.size()), issued.alphabet);
      if (length >= issued.least) return prefix.size() + length;
    }
  }
  const auto with_prefix = [&](std::string_view prefix, size_t (*length_after)(std::string_view)) {
    if (!text.starts_with(prefix)) return size_t{0};
    const size_t length = length_after(text.substr(prefix.size()));
    return length == 0 ? 0 : prefix.size() + length;
  };
  if (const size_t length = with_prefix("sk-", length_after_sk)) return length;
  if (const size_t length = with_prefix("hf_", length_after_hf)) return length;
  return with_prefix("eyJ", length_after_eyj);
}

std::string without_issued_tokens(std::string_view text) {
  std::string safe;
  for (size_t i = 0; i < text.size();) {
    const bool begins = i == 0 || (!is_alphanumeric(text[i - 1]) && text[i - 1] != '_');
    const size_t length = begins && is_letter(text[i]) ? length_of_token(text.substr(i)) : 0;
    if (length > 0) {
      safe += kHiddenSecret;
      i += length;
    } else {
      safe += text[i++];
    }
  }
  return safe;
}

// -----BEGIN RSA PRIVATE KEY----- ... -----END RSA PRIVATE KEY-----
std::string without_private_keys(std::string_view text) {
  constexpr std::string_view kHeader = "PRIVATE KEY-----";
  constexpr std::string_view kFooter = "-----END";
  std::string safe;
  while (true) {
    const size_t header = text.find(kHeader);
    if (header == std::string_view::npos) return safe.append(text);
    const size_t body = header + kHeader.size();
    const bool is_footer = text.substr(0, header).rfind(kFooter) != std::string_view::npos &&
                           text.substr(0, header).rfind("-----BEGIN") == std::string_view::npos;
    safe.append(text.substr(0, body));
    text.remove_prefix(body);
    if (is_footer) continue;
    const size_t end = std::min(text.find(kFooter), text.size());
    if (end > 0) safe.append(kHiddenSecret);
    text.remove_prefix(end);
  }
}

// "https://user:password@host", "https://token@host"
std::string without_passwords(std::string_view text) {
  constexpr std::string_view kScheme = "://";
  constexpr std::string_view kEnds = "/?#\"'<> \t\n\r";
  std::string safe;
  while (true) {
    const size_t scheme = text.find(kScheme);
    if (scheme == std::string_view::npos) return safe.append(text);
    const size_t begin = scheme + kScheme.size();
    safe.append(text.substr(0, begin));
    text.remove_prefix(begin);
    const std::string_view host = text.substr(0, text.find_first_of(kEnds));
    const size_t at = host.rfind('@');
    if (at == std::string_view::npos) continue;
    const std::string_view user = host.substr(0, host.substr(0, at).find(':'));
    if (user.size() < at) {
      safe.append(user).append(":").append(kHiddenSecret);
    } else {
      safe.append(looks_like_token(user.substr(0, at)) ? kHiddenSecret : user.substr(0, at));
    }
    text.remove_prefix(at);
  }
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

bool looks_like_token(std::string_view value) {
  constexpr size_t kLeast = 8;
  constexpr size_t kLeastMixed = 6;
  constexpr size_t kLong = 16;
  constexpr std::string_view kSeparators = "_-+=./";
  if (length_of_token(value) > 0) return true;
  const bool is_path = value.starts_with('/') || value.starts_with('.');
  if (value.size() < kLeast || is_path) return false;
  bool mixed = false;
  while (!value.empty()) {
    const size_t length = length_of_run(value, kAlphanumeric);
    const std::string_view part = value.substr(0, length);
    const size_t changes = changes_in(part);
    mixed = mixed || (length >= kLeastMixed && changes > 1) || (length >= kLong && changes > 0);
    value.remove_prefix(length);
    if (value.empty()) break;
    if (kSeparators.find(value.front()) == std::string_view::npos) return false;
    value.remove_prefix(1);
  }
  return mixed;
}

std::string without_bare_tokens(std::string_view text) {
  return without_issued_tokens(without_passwords(without_private_keys(text)));
}

}  // namespace llmprof
