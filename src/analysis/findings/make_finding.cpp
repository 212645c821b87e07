#include "analysis/findings/make_finding.h"

#include <algorithm>
#include <utility>

namespace llmprof::analysis {

profile::FindingValues longest_kernels(const StageFacts& facts,
                                       std::span<const KernelInStage> kernels) {
  profile::FindingValues values;
  for (const KernelInStage& kernel : kernels.first(std::min(kNamedKernels, kernels.size()))) {
    const std::string& name = facts.ranking->rows[kernel.row].description.short_name;
    const double time = static_cast<double>(kernel.total) / facts.instances();
    values.add("kernel_time", profile::to_milliseconds(time), name);
    values.add_number("kernel_calls", static_cast<double>(kernel.calls) / facts.instances(), name);
  }
  return values;
}

profile::FindingValues kernel_counts(const StageFacts& facts,
                                     std::span<const KernelInStage> kernels) {
  uint64_t calls = 0;
  Nanoseconds total = 0;
  for (const KernelInStage& kernel : kernels) {
    calls += kernel.calls;
    total += kernel.total;
  }
  const auto count = static_cast<double>(calls);
  profile::FindingValues values;
  values.add_number("kernels_per_pass", count / facts.passes());
  values.add_text("pass", facts.pass());
  values.add("mean_kernel",
             profile::to_milliseconds(calls == 0 ? 0 : static_cast<double>(total) / count));
  return values;
}

profile::FindingValues program_values(const StageFacts& facts) {
  profile::FindingValues values;
  values.add_flag("compiled", facts.program.compiled);
  if (!facts.program.engine.empty()) values.add_text("engine", facts.program.engine);
  if (facts.program.pytorch) values.add_text("framework", "PyTorch");
  return values;
}

Finding make_finding(const StageFacts& facts, profile::FindingKind kind, double recoverable,
                     profile::FindingValues values) {
  recoverable = std::min(recoverable, facts.recoverable->most);
  Finding finding;
  finding.kind = kind;
  finding.values = std::move(values).take();
  finding.stage = facts.stage->name;
  finding.recoverable = profile::to_milliseconds(recoverable);
  finding.total_recoverable = profile::to_milliseconds(recoverable * facts.instances());
  finding.unit = facts.unit;
  if (const double tokens = facts.recoverable->tokens; tokens > 0) {
    finding.recoverable_per_token = profile::to_milliseconds(recoverable / tokens);
    const double steps = facts.recoverable->decode_steps;
    if (steps > 0) {
      finding.recoverable_per_output_token = profile::to_milliseconds(recoverable / steps);
    }
  }
  const double wall = facts.recoverable->wall;
  finding.share_of_wall = {wall > 0 ? recoverable / wall : 0};
  return finding;
}

void explain_value(std::string_view name, profile::Reasons reasons, Finding& finding, size_t nth) {
  for (size_t i = 0; i < finding.values.size(); ++i) {
    if (finding.values[i].name != name || nth-- > 0) continue;
    finding.value_reasons.push_back({i, std::move(reasons)});
    return;
  }
}

}  // namespace llmprof::analysis
