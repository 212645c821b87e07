#include "report/documents/documents.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/findings/word_findings.h"
#include "report/format/figures.h"
#include "report/reasons/word_reasons.h"
#include "report/sections/section_words.h"

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
                         profile.context.device_kind == profile::DeviceKind::cpu ? "CPU" : "GPU",
                         *selection.device);
    flags += fmt::format("{}--device {}", flags.empty() ? "" : " ", *selection.device);
  }
  return fmt::format("Only {} ({}).", words, flags);
}

// For metrics that were read but place no kernel in the roofline.
void word_missing_metrics(profile::Roofline& roofline) {
  if (!roofline.kernels.empty() || roofline.metrics_read == 0) return;
  const std::string read = counted(roofline.metrics_read, "metric");
  if (roofline.metrics_of_kernels == 0) {
    roofline.why_not = fmt::format(
        "{} were read, but their launches match no kernel of this input; profile the same program "
        "with ncu and analyze both files together",
        read);
    return;
  }
  roofline.why_not = fmt::format(
      "{} were read, but neither throughput nor pipe utilization nor DRAM bytes; missing: {}; "
      "record them with `ncu --section SpeedOfLight --section MemoryWorkloadAnalysis`",
      read, fmt::join(roofline.missing_metrics, ", "));
}

}  // namespace

void word(profile::Profile& profile) {
  if (profile.selection) profile.selection->words = selection_sentence(profile);
  word_reasons(profile);  // findings quote some of them
  word_findings(profile);
  word_missing_metrics(profile.roofline);
  if (profile.operators_found.why_not && without_framework(profile)) {
    profile.operators_found.why_not = kNoFramework;
  }
}

}  // namespace llmprof::report
