#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "report/format/figures.h"
#include "report/format/part_names.h"
#include "report/sections/section_words.h"
#include "report/sections/sections.h"

namespace llmprof::report {
namespace {

constexpr size_t kShownGaps = 5;  // per stage

// Empty if there is a budget.
std::string why_no_budget(const profile::Profile& profile) {
  const bool any = std::ranges::any_of(
      profile.stages, [](const auto& stage) { return stage.shown.budget.has_value(); });
  return any ? std::string() : "Not known: " + why_no_stage_figures(profile);
}

Table budget_table(const profile::Profile& profile, const profile::Stage& stage) {
  const profile::StageShown& shown = stage.shown;
  Table table =
      table_of(fmt::format("part | #wall (ms per {}) | #share of wall | #wall (ms per step)",
                           instance_name(profile, "instance")),
               *shown.budget, [](const profile::BudgetPart& part) {
                 return cells(shown_name(part.part), ms(part.time), percent(part.share),
                              fine_ms(part.per_step));
               });
  table.rows.push_back({"sum (wall time)", ms(shown.wall.mean), percent(profile::Share{1}),
                        fine_ms(shown.wall_per_step)});
  return table.show_if(shown.wall_per_step.has_value() && !is_serving(profile),
                       "wall (ms per step)");
}

std::string idle_sentence(const profile::Profile& profile, const profile::Stage& stage) {
  const bool partly_traced = stage.tracing && stage.tracing->not_traced;
  return fmt::format("The {} {} {} ms per {}, {} of wall time{}.", device_word(profile),
                     on_cpu(profile) ? "is outside recorded operators for" : "is idle",
                     ms(stage.shown.idle), instance_name(profile, "instance"),
                     percent(stage.shown.idle_share_of_wall),
                     partly_traced ? " less what was not traced" : "");
}

std::string place(const profile::Profile& profile, uint64_t instance,
                  const std::optional<uint64_t>& step) {
  if (is_serving(profile)) return fmt::format("engine step {}", instance);
  std::string text = fmt::format("instance {}", instance);
  if (step) text += fmt::format(", step {}", *step);
  return text;
}

std::string between(const profile::Gap& gap) {
  if (!gap.work_before && !gap.work_after) return {};
  if (!gap.work_before) return "before " + *gap.work_after;
  if (!gap.work_after) return "after " + *gap.work_before;
  return *gap.work_before + " ... " + *gap.work_after;
}

// Columns from a gap's cause onward; on a CPU, activity is not only the host's.
std::string gap_titles(const profile::Profile& profile) {
  return on_cpu(profile) ? "cause | between | activity" : "cause | between | host activity";
}

Table gap_table(const profile::Profile& profile) {
  std::map<std::string, size_t> shown;
  return table_of("stage | where | #gap starts (ms after the stage's start) | #gap (ms) | " +
                      gap_titles(profile),
                  profile.gaps, [&](const profile::Gap& gap) {
                    if (++shown[gap.stage] > kShownGaps) return Row();
                    return cells(gap.stage, place(profile, gap.instance, gap.step_of_instance),
                                 ms(gap.after_start), ms(gap.time), shown_name(gap.cause),
                                 between(gap), gap.host.value_or(""));
                  });
}

Table repeated_gap_table(const profile::Profile& profile) {
  return table_of("stage | #gaps | #total (ms) | #longest (ms) | " + gap_titles(profile),
                  profile.repeated_gaps, [](const profile::RepeatedGap& gap) {
                    const profile::Gap& longest = gap.longest;
                    return cells(gap.stage, grouped(gap.count), ms(gap.total), ms(longest.time),
                                 shown_name(longest.cause), between(longest),
                                 longest.host.value_or(""));
                  });
}

std::string reasons(const profile::SlowStep& slow) {
  const std::string text = joined(slow.reasons, "; ", [](const profile::SlowReason& reason) {
    const double longer = reason.longer.value;
    return fmt::format("{} ({} ms {})", reason.what, ms(profile::Milliseconds{std::abs(longer)}),
                       longer < 0 ? "shorter" : "longer");
  });
  return text.empty() ? "spread over many kernels" : text;
}

}  // namespace

void add_section(Topic<"time budget"> /*topic*/, const Profile& profile, Document& document) {
  std::string missing = why_no_budget(profile);
  if (!missing.empty() && !profile.device_time.empty()) {
    missing += " \"GPU time\" shows busy and idle time over the whole timeline.";
  }
  if (!document.begin(2, "Time budget", missing)) return;
  document.add(Paragraph{fmt::format(
      "Where the wall time of an {} goes (mean). Each moment is charged once: overlapping kernels "
      "to the one that started first, communication and copies only where no other kernel runs. "
      "Before rounding, the parts sum to the wall time exactly.",
      instance_name(profile, "instance"))});
  for (const profile::Stage& stage : profile.stages) {
    if (!stage.shown.budget || stage.shown.budget->empty()) continue;
    document.add(Heading{3, "Budget of " + stage.name});
    document.add(budget_table(profile, stage));
    document.add(
        Paragraph{joined({idle_sentence(profile, stage), budget_basis_words(stage)}, " ")});
  }
}

void add_section(Topic<"idle gaps"> /*topic*/, const Profile& profile, Document& document) {
  std::string missing = why_no_budget(profile);
  if (missing.empty() && profile.job) {
    missing = kOfSingleRanks;
  } else if (missing.empty() && profile.gaps.empty()) {
    missing = on_cpu(profile) ? "An operator ran at every moment of the stages."
                              : "The GPU was never idle inside a stage.";
  }
  if (!document.begin(2, "Longest idle gaps", missing)) return;
  if (on_cpu(profile)) {
    document.add(
        Paragraph{"Gaps between recorded operators; the CPU's activity in them was not recorded."});
  }
  if (any_unwatched(profile)) {
    document.add(Paragraph{"Recorded gaps, including tracing overhead."});
  }
  document.add(gap_table(profile));
  document.add_filled(repeated_gap_table(profile),
                      "Gaps that recur at the same place, warm-up excluded:");
}

void add_section(Topic<"slow steps"> /*topic*/, const Profile& profile, Document& document) {
  std::string missing;
  if (profile.steps.empty()) {
    missing = "Not known: " + why_no_steps(profile);
  } else if (profile.job) {
    missing = kOfSingleRanks;
  } else if (profile.slow_steps.empty()) {
    const auto& rule = profile.slow_step_rule;
    missing = rule ? fmt::format("None. A step counts as slow if it is {}.", *rule)
                   : "None: no step is much longer than the median step of its kind.";
  }
  if (!document.begin(2, "Slowest steps", missing)) return;
  document.add(table_of(
      "stage | where | #wall (ms) | #above the median (ms) | difference from the median step",
      profile.slow_steps, [&](const profile::SlowStep& slow) {
        return cells(slow.stage, place(profile, slow.instance, slow.step_of_instance),
                     ms(slow.wall), ms(slow.above_median), reasons(slow));
      }));
}

}  // namespace llmprof::report
