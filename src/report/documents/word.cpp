#include "report/documents/word.h"

#include <fmt/format.h>

#include "report/findings/word_findings.h"
#include "report/sections/engine_words.h"

namespace llmprof::report {
namespace {

std::string step_words(const profile::StepRange& steps) {
  if (!steps.last) return fmt::format("steps from {} on", steps.first);
  if (steps.first == *steps.last) return fmt::format("step {}", steps.first);
  return fmt::format("steps {} to {}", steps.first, *steps.last);
}

std::string step_flag(const profile::StepRange& steps) {
  if (!steps.last) return fmt::format("--steps {}:", steps.first);
  return fmt::format("--steps {}:{}", steps.first, *steps.last + 1);
}

// "Only steps 4 to 11 of each decode (--steps 4:12)."
std::string selection_sentence(const profile::Profile& profile) {
  const profile::Selection& selection = *profile.selection;
  std::string words;
  std::string flags;
  if (selection.steps) {
    words = fmt::format("{} of each {}", step_words(*selection.steps),
                        profile.stages.size() == 1 ? profile.stages.front().name : "instance");
    flags = step_flag(*selection.steps);
  } else if (selection.stage) {
    words = *selection.stage;
  }
  if (selection.stage) flags += (flags.empty() ? "--stage " : " --stage ") + *selection.stage;
  if (selection.device) {
    words += fmt::format("{}{} {}", words.empty() ? "" : " on ",
                         profile.context.device_kind == "cpu" ? "CPU" : "GPU", *selection.device);
    flags += fmt::format("{}--device {}", flags.empty() ? "" : " ", *selection.device);
  }
  return fmt::format("Only {} ({}).", words, flags);
}

}  // namespace

void word(profile::Profile& profile) {
  if (profile.selection) profile.selection->words = selection_sentence(profile);
  word_findings(profile);
  if (profile.operators_found.why_not && without_framework(profile)) {
    profile.operators_found.why_not = kNoFramework;
  }
}

}  // namespace llmprof::report
