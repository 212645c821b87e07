#include "report/sections/section_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/format/figures.h"
#include "report/format/words.h"

namespace llmprof::report {
namespace {

// "; 1.642 ms in another window", "; 1.642 to 3.120 ms in 2 other windows".
std::string other_windows(const profile::TokenFigure& figure) {
  if (!figure.other_windows) return {};
  const auto& others = *figure.other_windows;
  if (others.count == 1) return fmt::format("; {} ms in another window", ms(others.min));
  return fmt::format("; {} ms in {} other windows", range_ms(others), others.count);
}

std::string of_words(const profile::Profile& profile, const profile::TokenFigure& figure) {
  if (!figure.of_requests) {
    const bool step = figure.figure == profile::TokenTime::of_engine_step;
    return typical_of(figure.time, step ? "engine step" : figure.stage);
  }
  if (figure.figure == profile::TokenTime::to_first_token) {
    return typical_of(figure.time, "prompt") + ", queueing excluded";
  }
  return fmt::format("{}, up to {}{}", typical_of(figure.time, "token"),
                     counted(shown_window(profile)->sequences_max, "sequence"),
                     other_windows(figure));
}

}  // namespace

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
  const auto found = std::ranges::find(profile.stages, name, &profile::Stage::name);
  return found == profile.stages.end() ? nullptr : &*found;
}

bool has_decode_steps(const profile::Profile& profile) {
  return std::ranges::any_of(profile.stages,
                             [](const auto& stage) { return stage.decode_step_count > 0; });
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
  const auto found = std::ranges::find_if(
      profile.findings, [](const auto& finding) { return finding.recoverable.has_value(); });
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

const profile::ServedWindow* shown_window(const profile::Profile& profile) {
  const auto& row = shown_tokens(profile).served_window;
  const auto& windows = profile.token_times.served;
  return row && *row < windows.size() ? &windows[*row] : nullptr;
}

TokenFigureWords token_figure_words(const profile::Profile& profile,
                                    const profile::TokenFigure& figure) {
  static constexpr auto kNames = profile::texts<profile::TokenTime>(
      {{profile::TokenTime::to_first_token, "time to first token"},
       {profile::TokenTime::per_output_token, "time per output token"},
       {profile::TokenTime::of_engine_step, "engine step of decode"}});
  return {std::string(kNames[figure.figure]), typical_text(figure.time), of_words(profile, figure)};
}

std::string served_words(const profile::Profile& profile) {
  constexpr size_t kWindowsInASentence = 4;
  const auto& windows = profile.token_times.served;
  if (windows.empty() || windows.size() > kWindowsInASentence) return {};
  const std::string each = joined(windows, "; then ", [](const profile::ServedWindow& window) {
    const std::string prompts =
        window.prompt ? fmt::format("{} of {} ms each, ", counted(window.prompts, "prompt"),
                                    ms(window.prompt))
                      : std::string();
    return fmt::format("{}{} ms per token, up to {}", prompts, ms(window.token),
                       counted(window.sequences_max, "sequence"));
  });
  return "Requests as recorded: " + each + ".";
}

}  // namespace llmprof::report
