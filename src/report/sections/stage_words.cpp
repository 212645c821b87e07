#include "report/sections/section_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/format/figures.h"
#include "report/format/words.h"

namespace llmprof::report {

bool on_cpu(const profile::Profile& profile) {
  return profile.context.device_kind == profile::DeviceKind::cpu;
}

std::string_view device_word(const profile::Profile& profile) {
  return on_cpu(profile) ? "CPU" : "GPU";
}

bool is_serving(const profile::Profile& profile) {
  return profile.stages_found.serving.value_or(false);
}

const profile::Stage* find_stage(const profile::Profile& profile, std::string_view name) {
  const auto found = std::find_if(profile.stages.begin(), profile.stages.end(),
                                  [&](const profile::Stage& stage) { return stage.name == name; });
  return found == profile.stages.end() ? nullptr : &*found;
}

bool has_decode_steps(const profile::Profile& profile) {
  return std::any_of(profile.stages.begin(), profile.stages.end(),
                     [](const profile::Stage& stage) { return stage.decode_step_count > 0; });
}

std::optional<profile::Share> covered_share(const profile::Profile& profile) {
  if (!profile.coverage) return std::nullopt;
  const auto& work = profile.coverage->work_sum_share;
  return work ? work : profile.coverage->kernel_sum_share;
}

bool has_tokens(const profile::Profile& profile) {
  return find_stage(profile, profile::kForwardStage) == nullptr;
}

std::string confidence_words(const profile::Profile& profile) {
  const profile::StagesFound& found = profile.stages_found;
  if (!found.confidence) return {};
  const std::string level = found.confidence_level ? spelled(*found.confidence_level) + ", " : "";
  return fmt::format("confidence {}{}", level, round_percent(*found.confidence));
}

std::string guess_sentence(const profile::Profile& profile) {
  if (!profile.stages_found.confidence) return {};
  if (!has_tokens(profile)) {
    return fmt::format(
        "Not recognized as an LLM: these are forward passes of a model, guessed from the kernel "
        "sequence ({}), and there are no token times. If it is one, mark prefill and decode in the "
        "program. ",
        confidence_words(profile));
  }
  return fmt::format("Stages are guessed from the kernel sequence ({}). ",
                     confidence_words(profile));
}

std::string instance_name(const profile::Profile& profile, std::string_view stage) {
  return is_serving(profile) ? "engine step" : std::string(stage);
}

Cell step_count_cell(const profile::Stage& stage) {
  const bool one_each = stage.decode_step_count == 0 && stage.step_count == stage.wall.count;
  if (stage.step_count == 0 || one_each) return std::string(kMissing);
  if (!stage.tracing || stage.tracing->steps_traced == stage.tracing->steps_all) {
    return grouped(stage.step_count);
  }
  return fmt::format("{} of {} traced", grouped(stage.tracing->steps_traced),
                     grouped(stage.tracing->steps_all));
}

const profile::TokenTimesShown& shown_tokens(const profile::Profile& profile) {
  static const profile::TokenTimesShown kNone;
  return profile.token_times.shown ? *profile.token_times.shown : kNone;
}

std::string token_count_words(uint64_t value, const std::optional<std::string>& source) {
  return fmt::format("{}{}", grouped(value), source == "assumed" ? " (assumed)" : "");
}

std::string_view scope_words(const profile::Profile& profile) {
  return profile.selection ? "the selection" : "the whole capture";
}

std::string bound_words(const profile::Stage& stage) {
  return std::string(stage.shown.bound ? to_string(*stage.shown.bound) : kMissing);
}

std::optional<profile::Milliseconds> known_floor(const profile::Stage& stage) {
  return stage.shown.bound ? stage.floor : std::nullopt;
}

const profile::BudgetPart* largest_part(const profile::Stage& stage, bool idle) {
  if (!stage.shown.budget) return nullptr;
  for (const profile::BudgetPart& part : *stage.shown.budget) {
    if (part.part != profile::TimePart::not_traced && part.idle == idle) return &part;
  }
  return nullptr;
}

const profile::Finding* first_gain(const profile::Profile& profile) {
  const auto found =
      std::find_if(profile.findings.begin(), profile.findings.end(),
                   [](const profile::Finding& finding) { return finding.recoverable.has_value(); });
  return found == profile.findings.end() ? nullptr : &*found;
}

std::string per_unit(const profile::Profile& profile) {
  std::string shared;
  for (const profile::Finding& finding : profile.findings) {
    if (!finding.unit) continue;
    const std::string own = per_unit(finding);
    if (!shared.empty() && own != shared) return {};
    shared = own;
  }
  return shared;
}

}  // namespace llmprof::report
