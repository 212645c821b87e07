#include "report/reasons/word_reasons.h"

#include <algorithm>

#include "report/reasons/reason_texts.h"

namespace llmprof::report {
namespace {

using profile::ReasonKind;

bool has_all_values(const profile::Reason& reason) {
  const auto& names = profile::kWords<ReasonKind>[static_cast<size_t>(reason.kind)].values;
  return std::all_of(names.begin(), names.end(), [&](std::string_view name) {
    return profile::find_value(reason.values, name) != nullptr;
  });
}

// How what follows a reason is told.
struct Joint {
  std::string_view open;
  std::string_view close;
};
Joint joint_behind(ReasonKind kind) {
  if (kind == ReasonKind::own_time_without_floor) return {": ", ""};  // why there is none
  if (kind == ReasonKind::longer_gap) return {" (", ")"};             // what the host did
  return {"; ", ""};
}

void fill(const profile::Reasons& reasons, std::optional<std::string>& text) {
  if (auto words = reason_words(reasons)) text = std::move(words);
}

void word_stage(profile::Stage& stage) {
  fill(stage.why_not_reasons, stage.why_not);
  fill(stage.basis_reasons, stage.basis);
  if (!stage.measured) return;
  fill(stage.measured->why_not_reasons, stage.measured->why_not);
  fill(stage.measured->energy_why_not_reasons, stage.measured->energy_why_not);
}

void word_overhead(std::optional<profile::Overhead>& overhead) {
  if (!overhead || !overhead->collector) return;
  fill(overhead->collector->why_not_reasons, overhead->collector->why_not);
}

void word_recoverable(profile::StageRecoverable& stage) {
  fill(stage.bound_reasons, stage.bound_reason);
  for (auto& part : stage.parts) fill(part.floor_rule_reasons, part.floor_rule);
  for (auto& kernel : stage.kernels) fill(kernel.floor_rule_reasons, kernel.floor_rule);
}

void word_slow_step(profile::SlowStep& slow) {
  for (profile::SlowReason& reason : slow.reasons) {
    if (auto words = reason_words(reason.what_reasons)) reason.what = std::move(*words);
  }
}

void word_values(profile::Finding& finding) {
  for (const profile::FindingValueReasons& told : finding.value_reasons) {
    if (told.value < finding.values.size()) fill(told.reasons, finding.values[told.value].text);
  }
}

}  // namespace

std::optional<std::string> reason_words(const profile::Reasons& reasons) {
  if (reasons.empty()) return std::nullopt;
  std::string text;
  Joint joint;
  for (const profile::Reason& reason : reasons) {
    if (!is_known(reason.kind) || !has_all_values(reason)) return std::nullopt;
    text += joint.open;
    text += reason_text(reason);
    text += joint.close;
    joint = joint_behind(reason.kind);
  }
  return text;
}

void word_reasons(profile::Profile& profile) {
  fill(profile.utilization.why_not_reasons, profile.utilization.why_not);
  fill(profile.roofline.rule_reasons, profile.roofline.rule);
  fill(profile.roofline.why_not_reasons, profile.roofline.why_not);
  fill(profile.operators_found.why_not_reasons, profile.operators_found.why_not);
  fill(profile.layer_summary.why_not_reasons, profile.layer_summary.why_not);
  fill(profile.slow_step_rule_reasons, profile.slow_step_rule);
  word_overhead(profile.overhead);
  if (profile.job) fill(profile.job->why_not_reasons, profile.job->why_not);
  for (profile::Rank& rank : profile.ranks) {
    for (profile::Stage& stage : rank.stages) word_stage(stage);
    word_overhead(rank.overhead);
  }
  for (profile::Layer& layer : profile.layers) fill(layer.note_reasons, layer.note);
  for (profile::Stage& stage : profile.stages) word_stage(stage);
  for (profile::Gap& gap : profile.gaps) fill(gap.host_reasons, gap.host);
  for (profile::RepeatedGap& gap : profile.repeated_gaps) {
    fill(gap.longest.host_reasons, gap.longest.host);
  }
  for (profile::SlowStep& slow : profile.slow_steps) word_slow_step(slow);
  for (profile::StageRecoverable& stage : profile.recoverable) word_recoverable(stage);
  for (profile::Finding& finding : profile.findings) word_values(finding);
}

}  // namespace llmprof::report
