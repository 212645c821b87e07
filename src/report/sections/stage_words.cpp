#include "report/sections/sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "report/format/figures.h"
#include "report/format/words.h"

namespace llmprof::report {
namespace {

// "; 1.642 ms in another window", "; 1.642 to 3.120 ms in 2 other windows".
std::string other_windows(const TokenFigure& figure) {
  if (!figure.other_windows) return {};
  const auto& others = *figure.other_windows;
  if (others.count == 1) return fmt::format("; {} ms in another window", ms(others.min));
  return fmt::format("; {} ms in {} other windows", range_ms(others), others.count);
}

std::string of_words(const Profile& profile, const TokenFigure& figure) {
  if (!figure.of_requests) {
    const bool step = figure.figure == TokenTime::of_engine_step;
    return typical_of(figure.time, step ? "engine step" : figure.stage);
  }
  if (figure.by_client) {
    const bool first = figure.figure == TokenTime::to_first_token;
    return typical_of(figure.time, first ? "request" : "token") + ", as the client saw it";
  }
  if (figure.figure == TokenTime::to_first_token) {
    return typical_of(figure.time, "prompt") + ", queueing excluded";
  }
  return fmt::format("{}, up to {}{}", typical_of(figure.time, "token"),
                     counted(shown_window(profile)->sequences_max, "sequence"),
                     other_windows(figure));
}

// "0.740 ms (8.3 % of the untraced time) to a prefill"
std::string added_words(const Stage& stage) {
  const UntracedTimes& own = *stage.untraced;
  if (own.added.value <= 0) return fmt::format("no measurable time to a {}", stage.name);
  return fmt::format("{} ms ({} of the untraced time) to a {}", ms(own.added),
                     percent(own.added_share), stage.name);
}

// Stages without untraced times, by reason.
std::string traced_words(const Profile& profile) {
  if (on_cpu(profile)) return {};
  std::map<NoUntracedTime, std::vector<std::string>> stages;
  for (const Stage& stage : profile.stages) {
    if (stage.untraced || !stage.untraced_why_not || stage.wall.count == 0) continue;
    stages[*stage.untraced_why_not].push_back(stage.name);
  }
  std::string text = joined(stages, " ", [](const auto& of) {
    return fmt::format("Times of {} include tracing overhead of unknown size: {}.",
                       enumeration(of.second), in_words(of.first));
  });
  if (text.empty()) return text;
  return text + " This overhead appears as idle time.";
}

std::string known_words(const Profile& profile) {
  std::map<std::string, std::vector<std::string>> sources;
  std::vector<std::string> added;
  for (const Stage& stage : profile.stages) {
    if (!stage.untraced) continue;
    sources[std::string(in_words(stage.untraced->source))].push_back(stage.name);
    added.push_back(added_words(stage));
  }
  if (added.empty()) return {};
  std::vector<std::string> how;
  how.reserve(sources.size());
  for (const auto& [words, names] : sources) {
    how.push_back(sources.size() == 1 ? words : fmt::format("{} {}", enumeration(names), words));
  }
  return fmt::format(
      "Wall times and idle time are from the program without tracing, {}. Tracing added {}; the "
      "budget excludes it.",
      enumeration(how), enumeration(added));
}

constexpr size_t kShownInstances = 5;  // that are excluded from statistics

std::string why_words(const Instance& instance) {
  std::string text(in_words(instance.warmup_reason.value_or(WarmupReason::annotated)));
  if (instance.captures_graph) text += "; a CUDA graph is captured in it";
  return text;
}

std::string graph_capture_words(const Stage& stage) {
  if (!stage.wall_with_captures) return {};
  return fmt::format(
      "A program's own clock may count the {} in which it captures a CUDA graph: the recorded mean "
      "that includes it is {} ms.",
      stage.name, ms(stage.wall_with_captures));
}

std::string cold_words(const Stage& stage) {
  if (!stage.only_the_first) return {};
  const std::string what =
      stage.instance_count == 1
          ? fmt::format("Only the program's first {} was recorded", stage.name)
          : fmt::format("Only the program's first {} instances of {} were recorded",
                        stage.instance_count, stage.name);
  if (stage.untraced) {
    return fmt::format(
        "{}: recorded kernels are from a cold start; the time without tracing is from later "
        "instances.",
        what);
  }
  return fmt::format("{}: {} times are cold-start times.", what, stage.name);
}

}  // namespace

bool on_cpu(const Profile& profile) { return profile.context.device_kind == DeviceKind::cpu; }

std::string_view device_word(const Profile& profile) { return on_cpu(profile) ? "CPU" : "GPU"; }

bool is_serving(const Profile& profile) { return profile.stages_found.serving.value_or(false); }

bool has_decode_steps(const Profile& profile) {
  return std::ranges::any_of(profile.stages,
                             [](const auto& stage) { return stage.decode_step_count > 0; });
}

std::optional<Share> covered_share(const Profile& profile) {
  return profile.coverage ? profile.coverage->shown_share : std::nullopt;
}

bool has_tokens(const Profile& profile) {
  return find_stage(profile, profile::kForwardStage) == nullptr;
}

std::string confidence_words(const Profile& profile) {
  const StagesFound& found = profile.stages_found;
  if (!found.confidence) return {};
  const std::string level = found.confidence_level ? spelled(*found.confidence_level) + ", " : "";
  return fmt::format("confidence {}{}", level, round_percent(*found.confidence));
}

std::string guess_sentence(const Profile& profile) {
  if (!profile.stages_found.confidence) return {};
  if (!has_tokens(profile)) {
    return fmt::format(
        "Not recognized as an LLM: these are forward passes of a model, guessed from the kernel "
        "sequence ({}), and there are no token times. If the model is an LLM, mark prefill and "
        "decode in the program. ",
        confidence_words(profile));
  }
  return fmt::format("Stages are guessed from the kernel sequence ({}). ",
                     confidence_words(profile));
}

std::string instance_name(const Profile& profile, std::string_view stage) {
  return is_serving(profile) ? "engine step" : std::string(stage);
}

Cell step_count_cell(const Stage& stage) {
  const bool one_each = stage.decode_step_count == 0 && stage.step_count == stage.wall.count;
  if (stage.step_count == 0 || one_each) return std::string(kMissing);
  if (!stage.tracing || stage.tracing->steps_traced == stage.tracing->steps_all) {
    return grouped(stage.step_count);
  }
  return fmt::format("{} of {} traced", grouped(stage.tracing->steps_traced),
                     grouped(stage.tracing->steps_all));
}

const TokenTimesShown& shown_tokens(const Profile& profile) {
  static const TokenTimesShown none;
  return profile.token_times.shown ? *profile.token_times.shown : none;
}

std::string_view scope_words(const Profile& profile) {
  return profile.selection ? "the selection" : "the whole capture";
}

std::string bound_words(const Stage& stage) {
  return std::string(stage.shown.bound ? to_string(*stage.shown.bound) : kMissing);
}

const BudgetPart* largest_part(const Stage& stage, bool idle) {
  if (!stage.shown.budget) return nullptr;
  for (const BudgetPart& part : *stage.shown.budget) {
    if (part.part != TimePart::not_traced && part.idle == idle) return &part;
  }
  return nullptr;
}

const Finding* first_gain(const Profile& profile) {
  const auto found = std::ranges::find_if(
      profile.findings, [](const auto& finding) { return finding.saving.has_value(); });
  return found == profile.findings.end() ? nullptr : &*found;
}

std::string per_unit(const Profile& profile) {
  std::string shared;
  for (const Finding& finding : profile.findings) {
    if (!finding.unit) continue;
    const std::string own = per_unit(finding);
    if (!shared.empty() && own != shared) return {};
    shared = own;
  }
  return shared;
}

const ServedWindow* shown_window(const Profile& profile) {
  const auto& row = shown_tokens(profile).served_window;
  const auto& windows = profile.token_times.served;
  return row && *row < windows.size() ? &windows[*row] : nullptr;
}

TokenFigureWords token_figure_words(const Profile& profile, const TokenFigure& figure) {
  static constexpr auto kNames =
      profile::texts<TokenTime>({{TokenTime::to_first_token, "time to first token"},
                                 {TokenTime::per_output_token, "time per output token"},
                                 {TokenTime::of_engine_step, "engine step of decode"}});
  return {std::string(kNames[figure.figure]), typical_text(figure.time), of_words(profile, figure)};
}

std::string served_words(const Profile& profile) {
  constexpr size_t kWindowsInASentence = 4;
  const auto& windows = profile.token_times.served;
  if (windows.empty() || windows.size() > kWindowsInASentence) return {};
  if (windows.front().source == profile::ServedBy::requests) return {};  // they have a section
  const std::string each = joined(windows, "; then ", [](const ServedWindow& window) {
    const std::string prompts =
        window.prompt ? fmt::format("{} of {} ms each, ", counted(window.prompts, "prompt"),
                                    ms(window.prompt))
                      : std::string();
    return fmt::format("{}{} ms per token, up to {}", prompts, ms(window.token),
                       counted(window.sequences_max, "sequence"));
  });
  return "Requests as recorded: " + each + ".";
}

bool includes_tracing(const Profile& profile, const Stage& stage) {
  return !on_cpu(profile) && !stage.untraced && stage.untraced_why_not.has_value();
}

constexpr auto kHasUntraced = [](const Stage& stage) { return stage.untraced.has_value(); };

bool all_untraced(const Profile& profile) {
  return !profile.stages.empty() && std::ranges::all_of(profile.stages, kHasUntraced);
}

bool any_untraced_times(const Profile& profile) {
  return std::ranges::any_of(profile.stages, kHasUntraced);
}

std::string times_words(const Profile& profile) {
  return joined({known_words(profile), traced_words(profile)}, " ");
}

std::string budget_basis_words(const Stage& stage) {
  if (!stage.untraced) return {};
  const UntracedTimes& own = *stage.untraced;
  std::string text = fmt::format("Wall time without tracing, {}", in_words(own.source));
  if (own.passes_timed > 0) text += fmt::format(" ({})", counted(own.passes_timed, "pass"));
  text += fmt::format("; tracing added {} ms ({} of the untraced time). ", ms(own.added),
                      percent(own.added_share));
  if (own.steps_all > 0) {
    text += fmt::format("Busy times cover {} recorded steps of {}. ", grouped(own.steps_recorded),
                        grouped(own.steps_all));
  }
  return text +
         (own.busy_scaled
              ? "Traced busy time exceeds the untraced wall time: busy parts are scaled down."
              : "Idle time is wall time minus busy time, split by cause as in the traced run.");
}

std::vector<std::string> left_out_words(const Profile& profile) {
  std::vector<std::string> all;
  if (is_serving(profile)) return all;
  for (const Stage& stage : profile.stages) {
    std::string each;
    size_t count = 0;
    for (size_t i = 0; i < stage.instances.size(); ++i) {
      const Instance& instance = stage.instances[i];
      if (!instance.warmup || ++count > kShownInstances) continue;
      each += fmt::format("{}instance {}, {} ms ({})", each.empty() ? "" : "; ", i,
                          ms(instance.wall), why_words(instance));
    }
    if (count == 0) continue;
    if (count > kShownInstances) each += fmt::format("; {} more", count - kShownInstances);
    each = fmt::format("Excluded from {} as warm-up (recorded times): {}.", stage.name, each);
    all.push_back(joined({each, graph_capture_words(stage)}, " "));
  }
  return all;
}

std::string mean_caveats(const Profile& profile) {
  return joined(profile.stages, " ", [](const Stage& stage) {
    return joined({graph_capture_words(stage), cold_words(stage)}, " ");
  });
}

}  // namespace llmprof::report
