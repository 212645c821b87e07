#include "report/sections/section_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "report/format/figures.h"
#include "report/format/words.h"

namespace llmprof::report {
namespace {

// "0.740 ms (8.3 %) to a prefill"
std::string added_words(const profile::Stage& stage) {
  const profile::Unwatched& own = *stage.unwatched;
  if (own.added.value <= 0) return fmt::format("no measurable time to a {}", stage.name);
  return fmt::format("{} ms ({}) to a {}", ms(own.added), percent(own.added_share), stage.name);
}

// Stages without unwatched times, by reason.
std::string traced_words(const profile::Profile& profile) {
  if (on_cpu(profile)) return {};
  std::map<profile::NotUnwatched, std::vector<std::string>> stages;
  for (const profile::Stage& stage : profile.stages) {
    if (stage.unwatched || !stage.unwatched_why_not || stage.wall.count == 0) continue;
    stages[*stage.unwatched_why_not].push_back(stage.name);
  }
  const std::string text = joined(stages, " ", [](const auto& of) {
    return fmt::format("Times of {} include tracing overhead of unknown size: {}.",
                       enumeration(of.second), in_words(of.first));
  });
  if (text.empty()) return text;
  return text + " This overhead appears as idle time.";
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
      "Wall times and idle time are from the program without tracing, {}. Tracing added {}; the "
      "budget excludes it.",
      enumeration(how), enumeration(added));
}

constexpr size_t kShownInstances = 5;  // that are excluded from statistics

std::string why_words(const profile::Instance& instance) {
  std::string text(in_words(instance.warmup_reason.value_or(profile::WarmupReason::told)));
  if (instance.captures_graph) text += "; a CUDA graph is captured in it";
  return text;
}

std::string graph_capture_words(const profile::Stage& stage) {
  if (!stage.wall_with_captures) return {};
  return fmt::format(
      "A program's own clock may count the {} in which it captures a CUDA graph: the recorded mean "
      "that includes it is {} ms.",
      stage.name, ms(stage.wall_with_captures));
}

std::string cold_words(const profile::Stage& stage) {
  if (!stage.only_the_first) return {};
  const std::string what =
      stage.instance_count == 1
          ? fmt::format("Only the program's first {} was recorded", stage.name)
          : fmt::format("Only the program's first {} instances of {} were recorded",
                        stage.instance_count, stage.name);
  if (stage.unwatched) {
    return fmt::format(
        "{}: recorded kernels are from a cold start; the time without tracing is from later "
        "instances.",
        what);
  }
  return fmt::format("{}: {} times are cold-start times.", what, stage.name);
}

}  // namespace

bool includes_tracing(const profile::Profile& profile, const profile::Stage& stage) {
  return !on_cpu(profile) && !stage.unwatched && stage.unwatched_why_not.has_value();
}

bool all_unwatched(const profile::Profile& profile) {
  return !profile.stages.empty() && std::ranges::all_of(profile.stages, [](const auto& stage) {
    return stage.unwatched.has_value();
  });
}

bool any_unwatched(const profile::Profile& profile) {
  return std::ranges::any_of(profile.stages,
                             [](const auto& stage) { return stage.unwatched.has_value(); });
}

std::string times_words(const profile::Profile& profile) {
  return joined({known_words(profile), traced_words(profile)}, " ");
}

std::string budget_basis_words(const profile::Stage& stage) {
  if (!stage.unwatched) return {};
  const profile::Unwatched& own = *stage.unwatched;
  std::string text = fmt::format("Wall time without tracing, {}", in_words(own.source));
  if (own.passes_timed > 0) text += fmt::format(" ({})", counted(own.passes_timed, "pass"));
  text += fmt::format("; tracing added {} ms ({}). ", ms(own.added), percent(own.added_share));
  if (own.steps_all > 0) {
    text += fmt::format("Busy times cover {} recorded steps of {}. ", grouped(own.steps_recorded),
                        grouped(own.steps_all));
  }
  return text +
         (own.busy_scaled
              ? "Traced busy time exceeds the untraced wall time: busy parts are scaled down."
              : "Idle time is wall time minus busy time, split by cause as in the traced run.");
}

std::vector<std::string> left_out_words(const profile::Profile& profile) {
  std::vector<std::string> all;
  if (is_serving(profile)) return all;
  for (const profile::Stage& stage : profile.stages) {
    std::string each;
    size_t count = 0;
    for (size_t i = 0; i < stage.instances.size(); ++i) {
      const profile::Instance& instance = stage.instances[i];
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

std::string mean_caveats(const profile::Profile& profile) {
  return joined(profile.stages, " ", [](const profile::Stage& stage) {
    return joined({graph_capture_words(stage), cold_words(stage)}, " ");
  });
}

}  // namespace llmprof::report
