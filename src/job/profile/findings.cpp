#include <algorithm>
#include <map>
#include <tuple>

#include "job/profile/parts.h"

namespace llmprof::job::result {
namespace {

using Key = std::tuple<std::string, std::string, std::string>;

Key key_of(const profile::Finding& finding) {
  return {std::string(to_string(finding.kind)), finding.stage.value_or(""),
          finding.subject.value_or("")};
}

double saving_of(const profile::Finding& finding) {
  return finding.total_recoverable ? finding.total_recoverable->value : -1;
}

}  // namespace

// A step of the job gains nothing from what one rank alone saves, and at most what the rank saves
// that would save most: a finding of several ranks is told once, with that rank's figures.
void merge(Topic<"findings"> /*topic*/, const Ranks& ranks, profile::Profile& job) {
  std::vector<profile::Finding>& findings = job.findings;
  findings = ranks.comparison.findings;
  std::map<Key, size_t> places;
  const size_t of_comparison = findings.size();
  const auto told = [&](const profile::Finding& finding) {
    return std::any_of(findings.begin(),
                       findings.begin() + static_cast<std::ptrdiff_t>(of_comparison),
                       [&](const profile::Finding& other) {
                         return other.kind == finding.kind && other.stage == finding.stage;
                       });
  };
  for (const RankPart& part : ranks.parts) {
    for (const profile::Finding& finding : part.profile.findings) {
      if (told(finding)) continue;
      const auto [known, is_new] = places.try_emplace(key_of(finding), findings.size());
      if (is_new) {
        findings.push_back(finding);
      } else if (saving_of(finding) > saving_of(findings[known->second])) {
        findings[known->second] = finding;
      }
    }
  }
  // What a capture hides has no saving and comes first, as in a single rank's profile.
  std::stable_sort(findings.begin(), findings.end(),
                   [](const profile::Finding& a, const profile::Finding& b) {
                     if (a.total_recoverable.has_value() != b.total_recoverable.has_value()) {
                       return !a.total_recoverable;
                     }
                     return saving_of(a) > saving_of(b);
                   });
}

}  // namespace llmprof::job::result
