#include "base/secrets/secret_names.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"

namespace llmprof {
namespace {

bool is_letter(char c) { return is_lower(c) || is_upper(c); }
bool is_alphanumeric(char c) { return is_letter(c) || is_digit(c); }

enum class Alphabet : uint8_t { alphanumeric, dashed, dotted, capitals, path };

bool is_of(Alphabet alphabet, char c) {
  switch (alphabet) {
    case Alphabet::alphanumeric:
      return is_alphanumeric(c);
    case Alphabet::dashed:
      return is_alphanumeric(c) || c == '_' || c == '-';
    case Alphabet::dotted:
      return is_alphanumeric(c) || c == '_' || c == '-' || c == '.';
    case Alphabet::capitals:
      return is_upper(c) || is_digit(c);
    case Alphabet::path:
      return is_alphanumeric(c) || c == '_' || c == '-' || c == '/';
  }
  return false;
}

// What issuers of tokens put in front of them, and the fewest characters that follow. None of
// these begins an ordinary word.
struct Issued {
  std::string_view prefix;
  Alphabet alphabet;
  size_t least;
};
constexpr auto kIssued = std::to_array<Issued>({
    {"ghp_", Alphabet::alphanumeric, 6},   // GitHub
    {"gho_", Alphabet::alphanumeric, 6},   //
    {"ghu_", Alphabet::alphanumeric, 6},   //
    {"ghs_", Alphabet::alphanumeric, 6},   //
    {"ghr_", Alphabet::alphanumeric, 6},   //
    {"github_pat_", Alphabet::dashed, 6},  //
    {"glpat-", Alphabet::dashed, 6},       // GitLab
    {"gldt-", Alphabet::dashed, 12},       //
    {"glrt-", Alphabet::dashed, 12},       //
    {"glcbt-", Alphabet::dashed, 12},      //
    {"glptt-", Alphabet::dashed, 12},      //
    {"xoxa-", Alphabet::dashed, 6},        // Slack
    {"xoxb-", Alphabet::dashed, 6},        //
    {"xoxe-", Alphabet::dashed, 6},        //
    {"xoxe.", Alphabet::dotted, 6},        //
    {"xoxp-", Alphabet::dashed, 6},        //
    {"xoxr-", Alphabet::dashed, 6},        //
    {"xoxs-", Alphabet::dashed, 6},        //
    {"xapp-", Alphabet::dashed, 12},       //
    {"hooks.slack.com/services/", Alphabet::path, 6},
    {"AKIA", Alphabet::capitals, 12},          // Amazon
    {"ASIA", Alphabet::capitals, 12},          //
    {"AIza", Alphabet::dashed, 20},            // Google
    {"ya29.", Alphabet::dotted, 10},           //
    {"nvapi-", Alphabet::dashed, 10},          // NVIDIA
    {"api_org_", Alphabet::alphanumeric, 12},  // Hugging Face
    {"sk_live_", Alphabet::dashed, 8},         // Stripe
    {"sk_test_", Alphabet::dashed, 8},         //
    {"rk_live_", Alphabet::dashed, 8},         //
    {"rk_test_", Alphabet::dashed, 8},         //
    {"whsec_", Alphabet::dashed, 8},           //
    {"npm_", Alphabet::alphanumeric, 20},      //
    {"pypi-", Alphabet::dashed, 20},           //
    {"dckr_pat_", Alphabet::dashed, 6},        // Docker
    {"dop_v1_", Alphabet::alphanumeric, 12},   // DigitalOcean
    {"r8_", Alphabet::alphanumeric, 20},       // Replicate
    {"gsk_", Alphabet::alphanumeric, 20},      // Groq
    {"xai-", Alphabet::dashed, 20},            //
    {"pplx-", Alphabet::dashed, 16},           // Perplexity
    {"tskey-", Alphabet::dashed, 10},          // Tailscale
    {"lin_api_", Alphabet::alphanumeric, 12},  // Linear
    {"glsa_", Alphabet::dashed, 12},           // Grafana
    {"hvs.", Alphabet::dotted, 16},            // Vault
    {"SG.", Alphabet::dotted, 30},             // SendGrid
    {"AGE-SECRET-KEY-", Alphabet::dashed, 10},
});

size_t length_of_run(std::string_view text, Alphabet alphabet) {
  const auto end =
      std::find_if_not(text.begin(), text.end(), [&](char c) { return is_of(alphabet, c); });
  return static_cast<size_t>(end - text.begin());
}

bool has_digit(std::string_view text) { return std::any_of(text.begin(), text.end(), is_digit); }

// How often letters and digits follow each other: 1 in "bfloat16", 3 in "s3cr3" .
size_t changes_in(std::string_view text) {
  size_t changes = 0;
  for (size_t i = 1; i < text.size(); ++i) {
    if (is_digit(text[i]) != is_digit(text[i - 1])) ++changes;
  }
  return changes;
}

// OpenAI, Anthropic and those who follow them: "sk-" also begins ordinary words (sk-learn-tests).
size_t length_after_sk(std::string_view rest) {
  constexpr size_t kLong = 16;
  constexpr size_t kShort = 8;
  const size_t length = length_of_run(rest, Alphabet::dashed);
  const std::string_view body = rest.substr(0, length);
  const bool one_run = body.find_first_of("-_") == std::string_view::npos;
  const bool has_capital = std::any_of(body.begin(), body.end(), is_upper);
  const bool is_long = length >= kLong && (one_run || has_capital || has_digit(body));
  return is_long || (length >= kShort && has_digit(body)) ? length : 0;
}

// Hugging Face: "hf_" also begins names of files and functions (hf_llm.py, hf_generate).
size_t length_after_hf(std::string_view rest) {
  constexpr size_t kLong = 16;
  constexpr size_t kShort = 12;
  const size_t length = length_of_run(rest, Alphabet::alphanumeric);
  if (length < rest.size() && (rest[length] == '_' || rest[length] == '-')) return 0;
  const bool mixed = changes_in(rest.substr(0, length)) > 1;
  return length >= kLong || (length >= kShort && mixed) ? length : 0;
}

// A JSON web token: two or more parts in base64, of which the first is an object.
size_t length_after_eyj(std::string_view rest) {
  constexpr size_t kHeader = 6;
  constexpr size_t kPayload = 4;
  const size_t header = length_of_run(rest, Alphabet::dashed);
  if (header < kHeader || header >= rest.size() || rest[header] != '.') return 0;
  if (length_of_run(rest.substr(header + 1), Alphabet::dashed) < kPayload) return 0;
  return length_of_run(rest, Alphabet::dotted);
}

// Of the token that a text begins with; 0: it begins with none.
size_t length_of_token(std::string_view text) {
  for (const Issued& issued : kIssued) {
    if (!text.starts_with(issued.prefix)) continue;
    const std::string_view rest = text.substr(issued.prefix.size());
    const size_t length = length_of_run(rest, issued.alphabet);
    if (length >= issued.least) return issued.prefix.size() + length;
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
  constexpr std::string_view kSeparators = "_-+=.";
  if (length_of_token(value) > 0) return true;
  const bool is_path = value.starts_with('/') || value.starts_with('.');
  if (value.size() < kLeast || is_path) return false;
  bool mixed = false;
  while (!value.empty()) {
    const size_t length = length_of_run(value, Alphabet::alphanumeric);
    const std::string_view part = value.substr(0, length);
    const size_t changes = changes_in(part);
    mixed = mixed || (length >= kLeastMixed && changes > 1) || (length >= kLong && changes > 0);
    value.remove_prefix(length);
    if (value.empty()) break;
    if (value.front() != '/' && kSeparators.find(value.front()) == std::string_view::npos) {
      return false;
    }
    value.remove_prefix(1);
  }
  return mixed;
}

std::string without_bare_tokens(std::string_view text) {
  return without_issued_tokens(without_passwords(without_private_keys(text)));
}

}  // namespace llmprof
