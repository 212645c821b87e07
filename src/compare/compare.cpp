#include "compare/compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "compare/comparability/comparability.h"
#include "compare/findings/finding_changes.h"
#include "compare/gate/evaluate.h"
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

bool is_blocked(const std::vector<Aspect>& aspects) {
  return std::any_of(aspects.begin(), aspects.end(),
                     [](const Aspect& aspect) { return aspect.blocking; });
}

}  // namespace

Diff compare(const Sides& sides, const CompareOptions& options) {
  Diff diff;
  diff.tool.version = options.tool_version;
  diff.threshold = {options.threshold};
  for (const Run& run : sides.base) diff.base.push_back(described(run));
  for (const Run& run : sides.now) diff.now.push_back(described(run));
  diff.aspects = find_aspects(sides);
  const bool comparable = !is_blocked(diff.aspects);
  std::vector<StageQuantities> quantities;
  if (comparable) {
    for (const std::string& stage : common_stages(sides)) {
      quantities.emplace_back(sides, stage, diff.left_out);
      const StageQuantities& of_stage = quantities.back();
      diff.groups.insert(diff.groups.end(), of_stage.groups().begin(), of_stage.groups().end());
      for (Comparison& each : of_stage.compare_all(options.threshold)) {
        diff.comparisons.push_back(std::move(each));
      }
      diff.stages.push_back(diff_stage(sides, stage));
    }
    if (quantities.empty()) diff.stages.push_back(diff_all_kernels(sides));
    diff.ranks = diff_ranks(sides);
    diff.findings = find_finding_changes(sides, options.threshold);
  }
  for (const Rule& rule : options.rules) {
    for (GateResult& result : evaluate(rule, quantities, options.threshold)) {
      diff.gates.push_back(std::move(result));
    }
  }
  diff.identical = !diff.comparisons.empty() &&
                   std::all_of(diff.comparisons.begin(), diff.comparisons.end(),
                               [](const Comparison& each) { return each.method == "identical"; });
  diff.verdict = comparable ? verdict_of(diff.gates) : "not_comparable";
  return diff;
}

}  // namespace llmprof::compare
