#include "analysis/naming/described_names.h"

namespace llmprof::analysis {

DescribedNames::DescribedNames(const trace::Trace& trace, const KernelRules& rules)
    : row_(trace.strings.size(), UINT32_MAX) {
  const auto add = [&](trace::StringId name) {
    if (!name.valid() || row_[name.index()] != UINT32_MAX) return;
    row_[name.index()] = static_cast<uint32_t>(descriptions_.size());
    descriptions_.push_back(rules.describe(trace.strings[name]));
  };
  for (const trace::StringId name : trace.kernels.name) add(name);
  for (const trace::ProfiledIdentity& identity : trace.identities.values()) add(identity.name);
  for (const trace::KernelSummary& summary : trace.kernel_summaries) add(summary.name);
}

}  // namespace llmprof::analysis
