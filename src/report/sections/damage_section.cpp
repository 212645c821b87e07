#include "report/sections/section_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "profile/lost_data.h"
#include "report/format/figures.h"

namespace llmprof::report {
namespace {

// Work that is missing because of how it was recorded: reports have their own words for it, and
// what to record otherwise is the right advice.
bool is_of_recording(std::string_view code) {
  constexpr auto kCodes = std::to_array<std::string_view>(
      {"capture_without_rank", "collector_log_empty", "collector_stood_down",
       "launches_without_kernels", "rank_died", "rank_missing", "stage_not_traced"});
  return std::find(kCodes.begin(), kCodes.end(), code) != kCodes.end();
}

std::string with_count(const profile::Diagnostic& item) {
  return item.count > 1 ? fmt::format("{} [{} times]", item.message, grouped(item.count))
                        : item.message;
}

}  // namespace

bool is_damage(const profile::Profile& profile, const profile::Diagnostic& diagnostic) {
  return profile::means_lost_data(diagnostic, profile.totals.source) &&
         !is_of_recording(diagnostic.code);
}

bool is_damaged(const profile::Profile& profile) {
  return std::any_of(
      profile.diagnostics.begin(), profile.diagnostics.end(),
      [&](const profile::Diagnostic& diagnostic) { return is_damage(profile, diagnostic); });
}

void add_damage(const profile::Profile& profile, Document& document) {
  constexpr size_t kNamed = 3;
  std::string words;
  size_t found = 0;
  for (const profile::Diagnostic& diagnostic : profile.diagnostics) {
    if (!is_damage(profile, diagnostic) || ++found > kNamed) continue;
    words += (words.empty() ? "" : "; ") + with_count(diagnostic);
  }
  if (found == 0) return;
  if (found > kNamed) words += fmt::format("; and {} more", found - kNamed);
  while (words.ends_with('.')) words.pop_back();
  document.add(Callout{
      Callout::Kind::warning,
      fmt::format("The input is damaged: {}. All figures are of what could be read.", words)});
}

}  // namespace llmprof::report
