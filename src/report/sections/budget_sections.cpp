#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "report/format/figures.h"
#include "report/format/part_names.h"
#include "report/sections/reasons.h"
#include "report/sections/section_words.h"
#include "report/sections/sections.h"

namespace llmprof::report {
namespace {

constexpr size_t kShownGaps = 5;  // of each stage

bool any_budget(const profile::Profile& profile) {
  return std::any_of(profile.stages.begin(), profile.stages.end(),
                     [](const profile::Stage& stage) { return stage.shown.budget.has_value(); });
}

// Where the same is told of everything that was recorded.
std::string_view whole_timeline_words(const profile::Profile& profile) {
  return profile.device_time.empty()
             ? ""
             : " The section \"GPU time\" tells busy and idle time of the whole timeline.";
}

Table budget_table(const profile::Profile& profile, const profile::Stage& stage) {
  const profile::StageShown& shown = stage.shown;
  const bool stepped = shown.wall_per_step.has_value() && !is_serving(profile);
  Table table{{text_column("part"),
               number_column(fmt::format("wall (ms per {})", instance_name(profile, "instance"))),
               number_column("share of wall")}};
  if (stepped) table.columns.push_back(number_column("wall (ms per step)"));
  for (const profile::BudgetPart& part : *shown.budget) {
    table.rows.push_back({std::string(shown_name(part.part)), ms(part.time), percent(part.share)});
    if (stepped) table.rows.back().emplace_back(fine_ms(part.per_step));
  }
  table.rows.push_back({"sum (wall time)", ms(shown.wall.mean), percent(profile::Share{1})});
  if (stepped) table.rows.back().emplace_back(fine_ms(shown.wall_per_step));
  return table;
}

std::string idle_sentence(const profile::Profile& profile, const profile::Stage& stage) {
  const bool partly_traced = stage.tracing && stage.tracing->not_traced;
  return fmt::format("The {} {} {} ms per {}, {} of wall time{}.", device_word(profile),
                     on_cpu(profile) ? "is outside of recorded operators for" : "is idle",
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

std::string_view activity_title(const profile::Profile& profile) {
  return on_cpu(profile) ? "activity" : "host activity";
}

Table gap_table(const profile::Profile& profile) {
  Table table{{text_column("stage"), text_column("where"),
               number_column("gap starts (ms after the stage's start)"), number_column("gap (ms)"),
               text_column("cause"), text_column("between"), text_column(activity_title(profile))}};
  std::map<std::string, size_t> shown;
  for (const profile::Gap& gap : profile.gaps) {
    if (++shown[gap.stage] > kShownGaps) continue;
    table.rows.push_back({gap.stage, place(profile, gap.instance, gap.step_of_instance),
                          ms(gap.after_start), ms(gap.time), std::string(shown_name(gap.cause)),
                          between(gap), gap.host.value_or("")});
  }
  return table;
}

Table repeated_gap_table(const profile::Profile& profile) {
  Table table{{text_column("stage"), number_column("gaps"), number_column("total (ms)"),
               number_column("longest (ms)"), text_column("cause"), text_column("between"),
               text_column(activity_title(profile))}};
  for (const profile::RepeatedGap& gap : profile.repeated_gaps) {
    table.rows.push_back({gap.stage, grouped(gap.count), ms(gap.total), ms(gap.longest.time),
                          std::string(shown_name(gap.longest.cause)), between(gap.longest),
                          gap.longest.host.value_or("")});
  }
  return table;
}

std::string reasons(const profile::SlowStep& slow) {
  std::string text;
  for (const profile::SlowReason& reason : slow.reasons) {
    const double longer = reason.longer.value;
    text +=
        fmt::format("{}{} ({} ms {})", text.empty() ? "" : "; ", reason.what,
                    ms(profile::Milliseconds{std::abs(longer)}), longer < 0 ? "shorter" : "longer");
  }
  return text.empty() ? "spread over many kernels" : text;
}

}  // namespace

void add_section(Topic<"time budget"> /*topic*/, const Profile& profile, Document& document) {
  document.add(Heading{2, "Time budget"});
  if (!any_budget(profile)) {
    document.add(Paragraph{"Not known: " + why_no_stage_figures(profile) +
                           std::string(whole_timeline_words(profile))});
    return;
  }
  document.add(Paragraph{fmt::format(
      "Where the wall time of an {} goes (mean). Each moment is charged once: overlapping kernels "
      "to the one that started first, communication and copies only where no other kernel runs. "
      "Before rounding, the parts sum to the wall time exactly.",
      instance_name(profile, "instance"))});
  for (const profile::Stage& stage : profile.stages) {
    if (!stage.shown.budget || stage.shown.budget->empty()) continue;
    document.add(Heading{3, "Budget of " + stage.name});
    document.add(budget_table(profile, stage));
    std::string basis = budget_basis_words(stage);
    document.add(Paragraph{idle_sentence(profile, stage) + (basis.empty() ? "" : " ") + basis});
  }
}

void add_section(Topic<"idle gaps"> /*topic*/, const Profile& profile, Document& document) {
  document.add(Heading{2, "Longest idle gaps"});
  if (!any_budget(profile)) {
    document.add(Paragraph{"Not known: " + why_no_stage_figures(profile)});
    return;
  }
  if (profile.job) {
    document.add(Paragraph{std::string(kToldOfSingleRanks)});
    return;
  }
  if (profile.gaps.empty()) {
    document.add(Paragraph{on_cpu(profile) ? "An operator ran at every moment of the stages."
                                           : "The GPU was never idle inside a stage."});
    return;
  }
  if (on_cpu(profile)) {
    document.add(
        Paragraph{"Gaps between recorded operators; what the CPU did in them was not recorded."});
  }
  if (any_unwatched(profile)) {
    document.add(Paragraph{"As recorded: these gaps hold what tracing added."});
  }
  document.add(gap_table(profile));
  if (!profile.repeated_gaps.empty()) {
    document.add(Paragraph{"Gaps that recur at the same place, warm-up excluded:"});
    document.add(repeated_gap_table(profile));
  }
}

void add_section(Topic<"slow steps"> /*topic*/, const Profile& profile, Document& document) {
  document.add(Heading{2, "Slowest steps"});
  if (profile.steps.empty()) {
    document.add(Paragraph{"Not known: " + why_no_steps(profile)});
    return;
  }
  if (profile.job) {
    document.add(Paragraph{std::string(kToldOfSingleRanks)});
    return;
  }
  if (profile.slow_steps.empty()) {
    const auto& rule = profile.slow_step_rule;
    document.add(Paragraph{rule
                               ? fmt::format("None. A step counts as slow if it is {}.", *rule)
                               : "None: no step is much longer than the median step of its kind."});
    return;
  }
  Table table{columns(
      "stage | where | #wall (ms) | #above the median (ms) | difference from the median step")};
  for (const profile::SlowStep& slow : profile.slow_steps) {
    table.rows.push_back({slow.stage, place(profile, slow.instance, slow.step_of_instance),
                          ms(slow.wall), ms(slow.above_median), reasons(slow)});
  }
  document.add(std::move(table));
}

}  // namespace llmprof::report
