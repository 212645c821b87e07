#include "report/findings/word_findings.h"

#include <fmt/format.h>

#include <algorithm>

#include "profile/finding_kinds.h"
#include "report/findings/themes.h"

namespace llmprof::report {
namespace {

using profile::FindingKind;

FindingWords words_of(FindingKind kind, const Evidence& evidence) {
  switch (kind) {
    case FindingKind::hidden_graphs:
      return hidden_graphs_words(evidence);
    case FindingKind::host_stall_repeated:
      return host_stall_repeated_words(evidence);
    case FindingKind::host_stall_single:
      return host_stall_single_words(evidence);
    case FindingKind::launch_bound:
      return launch_bound_words(evidence);
    case FindingKind::gap_between_steps:
      return gap_between_steps_words(evidence);
    case FindingKind::synchronization:
      return synchronization_words(evidence);
    case FindingKind::queue_gaps:
      return queue_gaps_words(evidence);
    case FindingKind::first_work_queued:
      return first_work_queued_words(evidence);
    case FindingKind::idle_before_first_work:
      return idle_before_first_work_words(evidence);
    case FindingKind::idle_after_last_work:
      return idle_after_last_work_words(evidence);
    case FindingKind::gemm_above_floor:
      return gemm_above_floor_words(evidence);
    case FindingKind::gemv_above_floor:
      return gemv_above_floor_words(evidence);
    case FindingKind::attention_above_floor:
      return attention_above_floor_words(evidence);
    case FindingKind::small_kernels:
      return small_kernels_words(evidence);
    case FindingKind::fusible_norm:
      return fusible_norm_words(evidence);
    case FindingKind::fusible_rope:
      return fusible_rope_words(evidence);
    case FindingKind::fusible_elementwise:
      return fusible_elementwise_words(evidence);
    case FindingKind::copies_and_casts:
      return copies_and_casts_words(evidence);
    case FindingKind::token_selection:
      return token_selection_words(evidence);
    case FindingKind::expert_routing:
      return expert_routing_words(evidence);
    case FindingKind::exposed_communication:
      return evidence.has("wait_time") ? job_communication_words(evidence)
                                       : exposed_communication_words(evidence);
    case FindingKind::exposed_copies:
      return exposed_copies_words(evidence);
    case FindingKind::low_clocks:
      return low_clocks_words(evidence);
    case FindingKind::slow_steps:
      return slow_steps_words(evidence);
    case FindingKind::latency_bound_kernels:
      return latency_bound_kernels_words(evidence);
    case FindingKind::time_outside_operators:
      return time_outside_operators_words(evidence);
    case FindingKind::straggler:
      return straggler_words(evidence);
    case FindingKind::pipeline_bubble:
      return pipeline_bubble_words(evidence);
    case FindingKind::expert_imbalance:
      return expert_imbalance_words(evidence);
    case FindingKind::slow_link:
      return slow_link_words(evidence);
  }
  return {};
}

bool has_all_values(const profile::Finding& finding, FindingKind kind) {
  const auto& names = profile::finding_kinds()[static_cast<size_t>(kind)].values;
  return std::all_of(names.begin(), names.end(), [&](std::string_view name) {
    return profile::find_value(finding.values, name) != nullptr;
  });
}

// The one figure in what engines' files advise.
void put_longest_gap(const Evidence& evidence, std::string& advice) {
  constexpr std::string_view kPlace = "{longest_gap}";
  const size_t place = advice.find(kPlace);
  if (place == std::string::npos) return;
  std::string gap;
  if (evidence.has("longest_gap")) {
    gap = fmt::format(" (the longest gap, {}, is before \"{}\")",
                      evidence.single_time("longest_gap"), evidence.text("work_after"));
  }
  advice.replace(place, kPlace.size(), gap);
}

}  // namespace

void word_findings(profile::Profile& profile) {
  const bool on_cpu = profile.context.device_kind == profile::DeviceKind::cpu;
  for (profile::Finding& finding : profile.findings) {
    const auto kind = profile::finding_kind(finding.kind);
    if (!kind || !has_all_values(finding, *kind)) continue;
    const Evidence evidence(finding, on_cpu);
    FindingWords words = words_of(*kind, evidence);
    finding.title = std::move(words.title);
    finding.evidence = std::move(words.evidence);
    if (finding.advice.empty()) finding.advice = std::move(words.advice);
    put_longest_gap(evidence, finding.advice);
  }
}

}  // namespace llmprof::report
