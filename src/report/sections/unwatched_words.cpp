#include "report/sections/section_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "report/format/figures.h"
#include "report/format/sentences.h"
#include "report/format/words.h"

namespace llmprof::report {
namespace {

// "a prefill 0.740 ms (8.3 %)"
std::string added_words(const profile::Stage& stage) {
  const profile::Unwatched& own = *stage.unwatched;
  if (own.added.value <= 0) return fmt::format("a {} no measurable time", stage.name);
  return fmt::format("a {} {} ms ({})", stage.name, ms(own.added), percent(own.added_share));
}

// Stages without unwatched times, by the reason.
std::string traced_words(const profile::Profile& profile) {
  if (on_cpu(profile)) return {};
  std::map<profile::NotUnwatched, std::vector<std::string>> stages;
  for (const profile::Stage& stage : profile.stages) {
    if (stage.unwatched || !stage.unwatched_why_not || stage.wall.count == 0) continue;
    stages[*stage.unwatched_why_not].push_back(stage.name);
  }
  std::string text;
  for (const auto& [why, names] : stages) {
    text += fmt::format("{}Times of {} include tracing overhead of unknown size: {}.",
                        text.empty() ? "" : " ", enumeration(names), in_words(why));
  }
  if (!text.empty()) text += " It shows as idle time, which is not the program's alone.";
  return text;
}

std::string known_words(const profile::Profile& profile) {
  std::map<std::string, std::vector<std::string>> sources;
  std::vector<std::string> added;
  for (const profile::Stage& stage : profile.stages) {
    if (!stage.unwatched) continue;
    sources[std::string(in_words(stage.unwatched->source))].push_back(stage.name);
    added.push_back(added_words(stage));
  }
  if (added.empty()) return {};
  std::vector<std::string> how;
  how.reserve(sources.size());
  for (const auto& [words, names] : sources) {
    how.push_back(sources.size() == 1 ? words : fmt::format("{} {}", enumeration(names), words));
  }
  return fmt::format(
      "Wall times and idle time are those of the program without tracing, {}. Tracing added to {}; "
      "that is in no part of the budget.",
      enumeration(how), enumeration(added));
}

}  // namespace

bool includes_tracing(const profile::Profile& profile, const profile::Stage& stage) {
  return !on_cpu(profile) && !stage.unwatched && stage.unwatched_why_not.has_value();
}

bool all_unwatched(const profile::Profile& profile) {
  return !profile.stages.empty() &&
         std::all_of(profile.stages.begin(), profile.stages.end(),
                     [](const profile::Stage& stage) { return stage.unwatched.has_value(); });
}

bool any_unwatched(const profile::Profile& profile) {
  return std::any_of(profile.stages.begin(), profile.stages.end(),
                     [](const profile::Stage& stage) { return stage.unwatched.has_value(); });
}

std::string times_words(const profile::Profile& profile) {
  std::string text = known_words(profile);
  if (const std::string traced = traced_words(profile); !traced.empty()) {
    text += (text.empty() ? "" : " ") + traced;
  }
  return text;
}

std::string budget_basis_words(const profile::Stage& stage) {
  if (!stage.unwatched) return {};
  const profile::Unwatched& own = *stage.unwatched;
  std::string text = fmt::format("Wall time without tracing, {}", in_words(own.source));
  if (own.passes_timed > 0) text += fmt::format(" ({})", counted(own.passes_timed, "pass"));
  text += fmt::format("; tracing added {} ms ({}). ", ms(own.added), percent(own.added_share));
  if (own.steps_all > 0) {
    text += fmt::format("Busy times are of {} recorded steps of {}. ", grouped(own.steps_recorded),
                        grouped(own.steps_all));
  }
  return text + (own.busy_scaled
                     ? "The GPU was busy for longer under tracing than the whole takes without: "
                       "busy parts are scaled down."
                     : "Idle time is wall time less busy time; its causes are scaled from the "
                       "traced ones.");
}

}  // namespace llmprof::report
