#include "base/secrets/secret_names.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace llmprof {
namespace {

bool is_letter(char c) { return is_lower(c) || is_upper(c); }
bool is_alphanumeric(char c) { return is_letter(c) || is_digit(c); }

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
struct Issued {
  std::string_view prefixes;
  std::string_view alphabet;
  size_t least;
};
constexpr auto kIssued = std::to_array<Issued>({
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
  for (const Issued& issued : kIssued) {
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
