#include "report/findings/word_findings.h"

#include <fmt/format.h>

#include <algorithm>

#include "profile/finding_kinds.h"
#include "report/findings/themes.h"

namespace llmprof::report {
namespace {

using profile::FindingKind;

FindingWords communication_words(const Evidence& evidence) {
  return evidence.has("wait_time") ? job_communication_words(evidence)
                                   : exposed_communication_words(evidence);
}

struct WordsOfKind {
  FindingKind value;
  FindingWords (*words)(const Evidence& evidence);
};
constexpr auto kWordsOfKinds = profile::one_per_value<FindingKind, WordsOfKind>({
    {FindingKind::hidden_graphs, hidden_graphs_words},
    {FindingKind::host_stall_repeated, host_stall_repeated_words},
    {FindingKind::host_stall_single, host_stall_single_words},
    {FindingKind::launch_bound, launch_bound_words},
    {FindingKind::gap_between_steps, gap_between_steps_words},
    {FindingKind::synchronization, synchronization_words},
    {FindingKind::queue_gaps, queue_gaps_words},
    {FindingKind::first_work_queued, first_work_queued_words},
    {FindingKind::idle_before_first_work, idle_before_first_work_words},
    {FindingKind::idle_after_last_work, idle_after_last_work_words},
    {FindingKind::gemm_above_floor, gemm_above_floor_words},
    {FindingKind::gemv_above_floor, gemv_above_floor_words},
    {FindingKind::attention_above_floor, attention_above_floor_words},
    {FindingKind::small_kernels, small_kernels_words},
    {FindingKind::fusible_norm, fusible_norm_words},
    {FindingKind::fusible_rope, fusible_rope_words},
    {FindingKind::fusible_elementwise, fusible_elementwise_words},
    {FindingKind::copies_and_casts, copies_and_casts_words},
    {FindingKind::token_selection, token_selection_words},
    {FindingKind::expert_routing, expert_routing_words},
    {FindingKind::exposed_communication, communication_words},
    {FindingKind::exposed_copies, exposed_copies_words},
    {FindingKind::low_clocks, low_clocks_words},
    {FindingKind::slow_steps, slow_steps_words},
    {FindingKind::latency_bound_kernels, latency_bound_kernels_words},
    {FindingKind::time_outside_operators, time_outside_operators_words},
    {FindingKind::straggler, straggler_words},
    {FindingKind::pipeline_bubble, pipeline_bubble_words},
    {FindingKind::expert_imbalance, expert_imbalance_words},
    {FindingKind::slow_link, slow_link_words},
});

bool has_all_values(const profile::Finding& finding) {
  const auto& names = profile::kWords<FindingKind>[static_cast<size_t>(finding.kind)].values;
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
    if (!is_known(finding.kind) || !has_all_values(finding)) continue;
    const Evidence evidence(finding, on_cpu);
    FindingWords words = kWordsOfKinds[static_cast<size_t>(finding.kind)].words(evidence);
    finding.title = std::move(words.title);
    finding.evidence = std::move(words.evidence);
    if (finding.advice.empty()) finding.advice = std::move(words.advice);
    put_longest_gap(evidence, finding.advice);
  }
}

}  // namespace llmprof::report
