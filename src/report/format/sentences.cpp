#include "report/format/sentences.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>

namespace llmprof::report {
namespace {

// First words that are not names: lowercase in a clause, capitalized in a sentence.
constexpr std::array<std::string_view, 20> kPlainWords = {
    "a",    "an",  "by",  "few",   "from",  "in",   "it",    "its",    "no",   "none",
    "only", "one", "the", "their", "there", "this", "these", "totals", "what", "nothing"};

std::string with_plain_start(std::string_view text, bool capital) {
  std::string result(text);
  if (result.empty()) return result;
  const size_t end = std::min(result.find_first_of(" ,;:"), result.size());
  std::string word = result.substr(0, end);
  std::transform(word.begin(), word.end(), word.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const bool known = std::find(kPlainWords.begin(), kPlainWords.end(), word) != kPlainWords.end();
  const bool a_name = !std::all_of(result.begin(), result.begin() + static_cast<ptrdiff_t>(end),
                                   [](char c) { return c >= 'a' && c <= 'z'; });
  if (!known && (a_name || !capital)) return result;
  if (capital) word[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(word[0])));
  return result.replace(0, end, word);
}

std::string with_stop(std::string text) {
  if (!text.empty() && text.back() != '.') text += '.';
  return text;
}

}  // namespace

std::string sentence(std::string_view reason) { return with_stop(with_plain_start(reason, true)); }

std::string clause(std::string_view reason) { return with_stop(with_plain_start(reason, false)); }

std::string after_colon(std::string_view words) {
  std::string result(words);
  const size_t end = std::min(result.find_first_of(" ,;:"), result.size());
  const auto is_small = [](char c) { return c >= 'a' && c <= 'z'; };
  const bool word = end > 1 && std::all_of(result.begin() + 1,
                                           result.begin() + static_cast<ptrdiff_t>(end), is_small);
  if (word) result[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(result[0])));
  return result;
}

std::string enumeration(const std::vector<std::string>& words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    const bool last = i > 0 && i + 1 == words.size();
    text += (i == 0 ? "" : last ? " and " : ", ") + words[i];
  }
  return text;
}

std::string per_unit(const profile::Finding& finding) {
  if (!finding.unit) return {};
  return (finding.unit->starts_with("traced part of ") ? "in the " : "per ") + *finding.unit;
}

}  // namespace llmprof::report
