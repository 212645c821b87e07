#include "analysis/naming/described_names.h"

#include <map>
#include <string>

#include "analysis/naming/tell_apart.h"

namespace llmprof::analysis {
namespace {

// `names` are those of the descriptions.
void make_short_names_unique(const trace::Trace& trace, const std::vector<trace::StringId>& names,
                             std::vector<KernelDescription>& descriptions) {
  std::map<std::string, std::vector<size_t>> of_short_name;
  for (size_t i = 0; i < descriptions.size(); ++i) {
    of_short_name[descriptions[i].short_name].push_back(i);
  }
  for (const auto& [short_name, rows] : of_short_name) {
    if (rows.size() < 2) continue;
    std::vector<Namesake> namesakes;
    namesakes.reserve(rows.size());
    for (const size_t row : rows) namesakes.push_back({trace.strings[names[row]], short_name});
    tell_apart(namesakes);
    for (size_t i = 0; i < rows.size(); ++i) {
      descriptions[rows[i]].short_name = std::move(namesakes[i].short_name);
    }
  }
}

}  // namespace

DescribedNames::DescribedNames(const trace::Trace& trace, const KernelRules& rules)
    : row_(trace.strings.size(), UINT32_MAX) {
  std::vector<trace::StringId> names;
  const auto add = [&](trace::StringId name) {
    if (!name.valid() || row_[name.index()] != UINT32_MAX) return;
    row_[name.index()] = static_cast<uint32_t>(descriptions_.size());
    descriptions_.push_back(rules.describe(trace.strings[name]));
    names.push_back(name);
  };
  for (const trace::StringId name : trace.kernels.name) add(name);
  for (const trace::ProfiledIdentity& identity : trace.identities.values()) add(identity.name);
  for (const trace::KernelSummary& summary : trace.kernel_summaries) add(summary.name);
  make_short_names_unique(trace, names, descriptions_);
}

}  // namespace llmprof::analysis
