#include <fmt/format.h>

#include <limits>

#include "report/sections/sections.h"

namespace llmprof::report {
namespace {

std::string step_words(const std::pair<uint32_t, uint32_t>& steps) {
  if (steps.second == std::numeric_limits<uint32_t>::max()) {
    return fmt::format("steps from {} on", steps.first);
  }
  const uint32_t last = steps.second - 1;
  if (steps.first == last) return fmt::format("step {}", last);
  return fmt::format("steps {} to {}", steps.first, last);
}

std::string step_flag(const std::pair<uint32_t, uint32_t>& steps) {
  if (steps.second == std::numeric_limits<uint32_t>::max()) {
    return fmt::format("--steps {}:", steps.first);
  }
  return fmt::format("--steps {}:{}", steps.first, steps.second);
}

}  // namespace

std::string selection_words(const analysis::Profile& profile) {
  const analysis::Selection& selection = profile.selection;
  const auto& stages = profile.stages.stages;
  std::string words;
  std::string flags;
  if (selection.steps) {
    words = fmt::format("{} of each {}", step_words(*selection.steps),
                        stages.size() == 1 ? stages.front().name : "instance");
    flags = step_flag(*selection.steps);
  } else if (selection.stage) {
    words = *selection.stage;
  }
  if (selection.stage) flags += (flags.empty() ? "--stage " : " --stage ") + *selection.stage;
  if (selection.device) {
    words += fmt::format("{}{} {}", words.empty() ? "" : " on ",
                         analysis::device_words(profile.device).device, *selection.device);
    flags += fmt::format("{}--device {}", flags.empty() ? "" : " ", *selection.device);
  }
  if (words.empty()) return {};
  return fmt::format("Only {} ({}).", words, flags);
}

void add_selection(const analysis::Profile& profile, Document& document) {
  if (std::string words = selection_words(profile); !words.empty()) {
    document.add(Callout{Callout::Kind::note, std::move(words)});
  }
}

std::string_view scope_words(const analysis::Profile& profile) {
  return profile.selection.everything() ? "the whole capture" : "the selection";
}

std::string instance_words(const analysis::Profile& profile) {
  std::string each = analysis::instance_unit(profile.stages, profile.selection).each;
  if (profile.selection.steps) return each;
  for (uint32_t i = 0; i < profile.stages.stages.size(); ++i) {
    if (!analysis::stage_tracing(profile.stages, i).whole()) return "in the traced part of " + each;
  }
  return each;
}

std::string instance_name(const analysis::Profile& profile, std::string_view stage) {
  return profile.stages.serving ? "engine step" : std::string(stage);
}

}  // namespace llmprof::report
