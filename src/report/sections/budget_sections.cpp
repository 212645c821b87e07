#include <fmt/format.h>

#include <cstdlib>

#include "report/numbers.h"
#include "report/sections/sections.h"

namespace llmprof::report {
namespace {

constexpr size_t kShownGaps = 5;  // of each stage
constexpr std::string_view kNeedsTimeline =
    "Needs stages on a timeline with the CUDA calls that launched its kernels (nsys SQLite, a "
    "PyTorch trace).";

Table budget_table(const Reported& reported, const analysis::Stage& stage,
                   const StageFacts& facts) {
  const bool serving = reported.profile.stages.serving;
  const bool stepped = facts.wall_per_step.has_value() && !serving;
  Table table;
  table.columns = {text_column("part"),
                   number_column(serving ? "wall (ms an engine step)" : "wall (ms an instance)"),
                   number_column("share of wall")};
  if (stepped) table.columns.push_back(number_column("wall (ms a step)"));
  for (const BudgetRow& row : facts.budget) {
    table.rows.push_back({reported.part_name(row.part), ms(row.time), percent(row.share)});
    if (stepped) table.rows.back().push_back(fine_ms(row.per_step));
  }
  table.rows.push_back({"sum: wall", ms(stage.wall.mean), percent(1.0)});
  if (stepped) table.rows.back().push_back(fine_ms(facts.wall_per_step));
  return table;
}

std::string place(const Reported& reported, analysis::InstanceId instance, analysis::StepId step) {
  const analysis::Stages& stages = reported.profile.stages;
  if (stages.serving) {
    return fmt::format("engine step {}", reported.facts.instance_of_stage[instance.index()]);
  }
  std::string text = fmt::format("instance {}", reported.facts.instance_of_stage[instance.index()]);
  if (step.valid()) {
    text += fmt::format(", step {}", step.index() - stages.instances[instance.index()].first_step);
  }
  return text;
}

std::string between(const analysis::IdleGap& gap) {
  if (gap.work_before.empty() && gap.work_after.empty()) return {};
  if (gap.work_before.empty()) return "before " + gap.work_after;
  if (gap.work_after.empty()) return "after " + gap.work_before;
  return gap.work_before + " ... " + gap.work_after;
}

Table repeated_gap_table(const Reported& reported) {
  const analysis::Stages& stages = reported.profile.stages;
  Table table;
  table.columns = {
      text_column("stage"),          number_column("times"), number_column("idle in all (ms)"),
      number_column("longest (ms)"), text_column("cause"),   text_column("between"),
      text_column("host was in")};
  for (const analysis::RepeatedGap& gap : reported.profile.budgets.repeated_gaps) {
    const analysis::StageInstance& instance = stages.instances[gap.longest.instance.index()];
    table.rows.push_back({stages.stages[instance.stage].name, grouped(gap.count), ms(gap.total),
                          ms(gap.longest.length()),
                          reported.part_name(static_cast<size_t>(gap.longest.cause)),
                          between(gap.longest), gap.longest.host});
  }
  return table;
}

std::string reasons(const analysis::SlowStep& slow) {
  std::string text;
  for (const analysis::SlowStep::Reason& reason : slow.reasons) {
    if (!text.empty()) text += "; ";
    text += fmt::format("{} ({} ms {})", reason.what, ms(std::abs(reason.longer)),
                        reason.longer < 0 ? "shorter" : "longer");
  }
  return text.empty() ? "spread over many kernels" : text;
}

}  // namespace

void add_time_budget(const Reported& reported, Document& document) {
  document.add(Heading{2, "Time budget"});
  if (reported.profile.budgets.stages.empty()) {
    document.add(Paragraph{std::string(kNeedsTimeline)});
    return;
  }
  document.add(Paragraph{
      "Where the wall time of an " + instance_name(reported.profile, "instance") +
      " goes (mean). Each moment is charged once: overlapping "
      "kernels to the one that started first, communication and copies only where no other kernel "
      "runs. Before rounding the parts sum to the wall time exactly."});
  for (size_t i = 0; i < reported.stages.size(); ++i) {
    const StageFacts& facts = reported.facts.stages[i];
    if (facts.budget.empty()) continue;
    document.add(Heading{3, "Budget of " + reported.stages[i].name});
    document.add(budget_table(reported, reported.stages[i], facts));
    document.add(Paragraph{fmt::format(
        "The {} {} {} ms an {}, {} of wall{}.", reported.words().device, reported.words().is_idle,
        ms(facts.idle), instance_name(reported.profile, "instance"), percent(facts.idle_share),
        facts.not_traced ? " less what was not traced" : "")});
  }
}

void add_idle_gaps(const Reported& reported, Document& document) {
  const analysis::Budgets& budgets = reported.profile.budgets;
  const analysis::Stages& stages = reported.profile.stages;
  document.add(Heading{2, "Longest idle gaps"});
  if (budgets.stages.empty()) {
    document.add(Paragraph{std::string(kNeedsTimeline)});
    return;
  }
  if (budgets.gaps.empty()) {
    document.add(Paragraph{reported.profile.device == trace::DeviceKind::cpu
                               ? "Inside stages an operator ran all the time."
                               : "The GPU was never idle inside a stage."});
    return;
  }
  if (reported.profile.device == trace::DeviceKind::cpu) {
    document.add(
        Paragraph{"Times between recorded operators: what the CPU did there, nobody recorded."});
  }
  Table table;
  table.columns = {text_column("stage"),
                   text_column("where"),
                   number_column("at (ms after the stage's start)"),
                   number_column("idle (ms)"),
                   text_column("cause"),
                   text_column("between"),
                   text_column("host was in")};
  std::vector<size_t> shown(stages.stages.size(), 0);
  for (const analysis::IdleGap& gap : budgets.gaps) {
    const analysis::StageInstance& instance = stages.instances[gap.instance.index()];
    if (++shown[instance.stage] > kShownGaps) continue;
    table.rows.push_back(
        {stages.stages[instance.stage].name, place(reported, gap.instance, gap.step),
         ms(gap.start - instance.start), ms(gap.end - gap.start),
         reported.part_name(static_cast<size_t>(gap.cause)), between(gap), gap.host});
  }
  document.add(std::move(table));
  if (!budgets.repeated_gaps.empty()) {
    document.add(Paragraph{"Gaps that come back at the same place, warm-ups left out:"});
    document.add(repeated_gap_table(reported));
  }
}

void add_slow_steps(const Reported& reported, Document& document) {
  const analysis::Stages& stages = reported.profile.stages;
  document.add(Heading{2, "Slowest steps"});
  if (stages.steps.empty()) {
    document.add(
        Paragraph{"Needs steps: NVTX ranges named decode_step, an engine's annotations, or a "
                  "repeating kernel "
                  "sequence."});
    return;
  }
  const auto& slow_steps = reported.profile.budgets.slow_steps;
  if (slow_steps.empty()) {
    document.add(Paragraph{fmt::format("No step is {}.", analysis::kSlowStepRule)});
    return;
  }
  Table table;
  table.columns = {text_column("stage"), text_column("where"), number_column("wall (ms)"),
                   number_column("above the median (ms)"), text_column("what took longer")};
  for (const analysis::SlowStep& slow : slow_steps) {
    const analysis::Step& step = stages.steps[slow.step.index()];
    const analysis::StageInstance& instance = stages.instances[step.instance.index()];
    table.rows.push_back({stages.stages[instance.stage].name,
                          place(reported, step.instance, slow.step), ms(step.wall()),
                          ms(slow.above_median), reasons(slow)});
  }
  document.add(std::move(table));
}

}  // namespace llmprof::report
