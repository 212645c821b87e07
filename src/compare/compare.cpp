#include "compare/compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "compare/comparability/comparability.h"
#include "compare/damage/damage.h"
#include "compare/findings/finding_changes.h"
#include "compare/gate/evaluate.h"
#include "compare/identity/same_measurements.h"
#include "compare/noise/single_runs.h"
#include "compare/quantities/quantities.h"
#include "compare/ranks/rank_diff.h"
#include "compare/stages/stage_diff.h"

namespace llmprof::compare {
namespace {

SideRun described(const Run& run) {
  SideRun side;
  side.path = run.path;
  side.kind = run.kind;
  side.command = run.profile.workload.command;
  side.steps = run.profile.steps.size();
  std::set<std::string> tools;
  for (const profile::Capture& capture : run.profile.context.captures) {
    tools.insert(capture.tool_version ? fmt::format("{} {}", capture.tool.value_or(capture.format),
                                                    *capture.tool_version)
                                      : capture.tool.value_or(capture.format));
  }
  if (!tools.empty()) side.recorded_by = fmt::format("{}", fmt::join(tools, ", "));
  return side;
}

bool has_any(const std::vector<Aspect>& aspects, bool (*test)(const Aspect&)) {
  return std::any_of(aspects.begin(), aspects.end(), test);
}

bool is_blocking(const Aspect& aspect) { return aspect.blocking; }

// Kernels, budgets and utilization of another processor are worth seeing side by side.
bool forbids_side_by_side(const Aspect& aspect) {
  return aspect.blocking && aspect.aspect != "gpu";
}

// Where both sides know their times without profiling, these do not block; they spoil what was
// recorded all the same.
bool spoils_recorded_times(const Aspect& aspect) {
  return aspect.aspect == "recording" || aspect.aspect == "hidden_graphs";
}

bool hides_kernels(const Aspect& aspect) { return aspect.aspect == "hidden_graphs"; }

void compare_stages(const Sides& sides, const Judging& judging, bool all_kernels_seen,
                    std::vector<StageQuantities>& quantities, Diff& diff) {
  for (const std::string& stage : common_stages(sides)) {
    quantities.emplace_back(sides, stage, judging, diff.left_out);
    const StageQuantities& of_stage = quantities.back();
    diff.groups.insert(diff.groups.end(), of_stage.groups().begin(), of_stage.groups().end());
    for (Comparison& each : of_stage.compare_all()) diff.comparisons.push_back(std::move(each));
    diff.stages.push_back(diff_stage(sides, stage, all_kernels_seen));
  }
  if (quantities.empty()) diff.stages.push_back(diff_all_kernels(sides));
}

}  // namespace

Diff compare(const Sides& sides, const CompareOptions& options) {
  Diff diff;
  diff.tool.version = options.tool_version;
  diff.threshold = {options.threshold};
  diff.device_kind = sides.now.front().profile.context.device_kind;
  for (const Run& run : sides.base) diff.base.push_back(described(run));
  for (const Run& run : sides.now) diff.now.push_back(described(run));
  diff.damage = find_damage(sides);
  diff.aspects = find_aspects(sides);
  const bool comparable = !has_any(diff.aspects, is_blocking);
  Judging judging;
  judging.threshold = options.threshold;
  judging.single = SingleRuns::of(sides);
  judging.recorded_alike = !has_any(diff.aspects, spoils_recorded_times);
  judging.own_peaks = !comparable;
  if (!diff.damage.empty()) judging.withheld = "damaged";
  if (!comparable) judging.withheld = "not_comparable";
  std::vector<StageQuantities> quantities;
  if (!has_any(diff.aspects, forbids_side_by_side)) {
    compare_stages(sides, judging, !has_any(diff.aspects, hides_kernels), quantities, diff);
  }
  if (comparable) {
    diff.ranks = diff_ranks(sides);
    diff.findings = find_finding_changes(sides, options.threshold);
  } else {
    quantities.clear();  // no rule is about sides that stand side by side
  }
  for (const Rule& rule : options.rules) {
    for (GateResult& result : evaluate(rule, quantities)) diff.gates.push_back(std::move(result));
  }
  diff.identical = comparable &&
                   std::all_of(diff.comparisons.begin(), diff.comparisons.end(),
                               [](const Comparison& each) { return each.method == "identical"; }) &&
                   same_measurements(sides);
  diff.verdict = verdict_of(diff.gates);
  if (!diff.damage.empty()) diff.verdict = "cannot_tell";
  if (!comparable) diff.verdict = "not_comparable";
  return diff;
}

}  // namespace llmprof::compare
