#include "compare/compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include "base/quantiles.h"
#include "compare/changes/changes.h"
#include "compare/comparability/comparability.h"
#include "compare/comparability/loads.h"
#include "compare/likeness/comparable_steps.h"
#include "compare/memory/memory_diff.h"
#include "compare/quantities/judging.h"
#include "compare/quantities/quantities.h"
#include "compare/requests/request_quantities.h"
#include "compare/requests/requests_diff.h"
#include "compare/statistics/estimate.h"
#include "profile/json/json.h"
#include "profile/lost_data.h"

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
    std::string tool = capture.tool.value_or(std::string(to_string(capture.format)));
    if (capture.tool_version) tool += " " + *capture.tool_version;
    tools.insert(std::move(tool));
  }
  if (!tools.empty()) side.recorded_by = fmt::format("{}", fmt::join(tools, ", "));
  return side;
}

bool has_kernels(const Sides& sides) {
  const auto any = [](const Run& run) { return run.profile.totals.kernel_count > 0; };
  return std::ranges::any_of(sides.base, any) || std::ranges::any_of(sides.now, any);
}

void compare_stages(const Sides& sides, const Judging& judging, bool all_kernels_seen,
                    std::vector<StageQuantities>& quantities, Diff& diff) {
  for (const std::string& stage : common_stages(sides)) {
    quantities.emplace_back(sides, stage, judging, diff.left_out);
    const StageQuantities& of_stage = quantities.back();
    diff.groups.insert(diff.groups.end(), of_stage.groups().begin(), of_stage.groups().end());
    for (Comparison& each : of_stage.compare_all()) diff.comparisons.push_back(std::move(each));
    diff.stages.push_back(diff_stage(sides, stage, all_kernels_seen));
  }
  // A load on its own has no kernels, nor has a memory snapshot.
  const bool has_more = diff.requests || diff.memory;
  if (quantities.empty() && (!has_more || has_kernels(sides))) {
    diff.stages.push_back(diff_all_kernels(sides));
  }
}

// Its times are per instance, and no instance's end was recorded.
bool is_known_in_part(const profile::Stage& stage) {
  const auto is_measured = [](const profile::Instance& instance) { return !instance.warmup; };
  const auto is_whole = [&](const profile::Instance& instance) {
    return is_measured(instance) && !instance.cut_off;
  };
  return stage.step_count == 0 && std::ranges::any_of(stage.instances, is_measured) &&
         std::ranges::none_of(stage.instances, is_whole);
}

// Data missing on either side: what analyze reports as lost, and stages without a completely
// recorded instance.
std::vector<Damage> find_damage(const Sides& sides) {
  std::vector<Damage> found;
  for (const auto& [side, runs] :
       {std::pair(SideName::base, sides.base), std::pair(SideName::now, sides.now)}) {
    for (const Run& run : runs) {
      for (const Diagnostic& lost : profile::lost_data(run.profile)) {
        found.push_back({side, run.path, lost.code, lost.message, lost.count});
      }
      for (const profile::Stage& stage : run.profile.stages) {
        if (!is_known_in_part(stage)) continue;
        found.push_back({side, run.path, "stage_cut_off",
                         fmt::format("the end of {} was not recorded", stage.name), 1});
      }
    }
  }
  return found;
}

// What a rule on memory compares.
MemoryByGpu memory_of_rule(const Sides& sides, const Rule& rule, const Judging& judging) {
  if (!rule.quantity.is_of_memory()) return {};
  MemoryByGpu found = compare_memory(sides, rule.quantity, judging.threshold);
  if (!judging.withheld) return found;
  for (Comparison& comparison : found.compared) {
    comparison.why_not = judging.withheld;
    withhold(comparison);
  }
  return found;
}

// A recording's measurements, without its location and the analyzing tool.
std::string measured(const profile::Profile& from) {
  profile::Profile only;
  only.totals = from.totals;
  only.stages = from.stages;
  only.steps = from.steps;
  only.kernels = from.kernels;
  only.kernel_sequences = from.kernel_sequences;
  only.operators = from.operators;
  only.requests = from.requests;
  only.device_time = from.device_time;
  only.memory_ledger = from.memory_ledger;
  only.memory = from.memory;
  if (only.memory) {
    for (profile::MemorySnapshot& snapshot : only.memory->snapshots) snapshot.file.clear();
  }
  return profile::json::described_to_json(only);
}

// Whether both sides are the same recordings: in each run, every stage, step, kernel and total is
// equal to the last digit. Their locations do not matter.
bool same_measurements(const Sides& sides) {
  return std::equal(sides.base.begin(), sides.base.end(), sides.now.begin(), sides.now.end(),
                    [](const Run& base, const Run& now) {
                      return measured(base.profile) == measured(now.profile);
                    });
}

// None if a run does not have the value.
template <class Row>
std::optional<std::vector<double>> recorded(const std::vector<RowsOfRun<Row>>& runs,
                                            profile::Milliseconds Row::* time) {
  std::vector<double> values;
  for (const RowsOfRun<Row>& run : runs) {
    if (run.rows.empty()) return std::nullopt;
    double sum = 0;
    for (const Row* row : run.rows) sum += (row->*time).value;
    values.push_back(sum / static_cast<double>(run.rows.size()));
  }
  return values;
}

std::optional<std::vector<double>> untraced(std::span<const Run> runs, const std::string& stage) {
  std::vector<double> values;
  for (const Run& run : runs) {
    const profile::UntracedTimes& without = *find_measured(run.profile.stages, stage)->untraced;
    values.push_back((without.per_step ? *without.per_step : without.wall).value);
  }
  return values;
}

void fill_spread(double threshold, Spread& spread) {
  const auto count = static_cast<double>(spread.values.size());
  for (const double value : spread.values) spread.mean += value / count;
  const auto [low, high] = std::ranges::minmax_element(spread.values);
  spread.low = *low;
  spread.high = *high;
  if (spread.values.size() < 2 || spread.mean <= 0) return;
  spread.deviation = deviation(spread.values);
  const double half =
      student_t_975(2 * count - 2) * spread.deviation * std::sqrt(2 / count) / spread.mean;
  spread.smallest_seen = profile::Share{smallest_seen(threshold, half)};
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
  const auto has_any = [&](auto test) { return std::ranges::any_of(diff.aspects, test); };
  const auto has = [&](AspectKind kind) {
    return has_any([&](const Aspect& aspect) { return aspect.aspect == kind; });
  };
  const bool comparable = !has_any([](const Aspect& aspect) { return aspect.blocking; });
  Judging judging;
  judging.threshold = options.threshold;
  judging.single = SingleRuns::of(sides);
  // These do not block if both sides have times without profiling, but recorded times are still not
  // comparable.
  judging.recorded_alike = !has(AspectKind::recording) && !has(AspectKind::hidden_graphs);
  judging.own_peaks = !comparable;
  if (!diff.damage.empty()) judging.withheld = NoAnswer::damaged;
  if (!comparable) judging.withheld = NoAnswer::not_comparable;
  diff.memory = diff_memory(sides);
  std::vector<StageQuantities> quantities;
  std::optional<RequestQuantities> requests;
  // Kernels, budgets and utilization of another processor are worth showing next to each other.
  const auto blocks_all = [](const Aspect& each) {
    return each.blocking && each.aspect != AspectKind::gpu;
  };
  if (!has_any(blocks_all)) {
    requests =
        RequestQuantities::of(sides, judging, why_no_answer_on_requests(sides, diff.aspects));
    if (requests) diff.comparisons = requests->compare_all();
    diff.requests = diff_requests(sides);
    compare_stages(sides, judging, !has(AspectKind::hidden_graphs), quantities, diff);
  }
  if (comparable) {
    diff.ranks = diff_ranks(sides);
    diff.findings = find_finding_changes(sides, options.threshold);
  } else {
    quantities.clear();  // rules do not apply to incomparable sides
    requests.reset();
  }
  for (const Rule& rule : options.rules) {
    const auto memory = comparable ? memory_of_rule(sides, rule, judging) : MemoryByGpu();
    auto results = evaluate(rule, quantities, requests ? &*requests : nullptr, memory);
    std::ranges::move(results, std::back_inserter(diff.gates));
  }
  diff.identical = comparable &&
                   std::ranges::all_of(
                       diff.comparisons,
                       [](const Comparison& each) { return each.method == Method::identical; }) &&
                   same_measurements(sides);
  diff.verdict = verdict_of(diff.gates);
  if (!diff.damage.empty()) diff.verdict = Verdict::cannot_tell;
  if (!comparable) diff.verdict = Verdict::not_comparable;
  return diff;
}

std::vector<Spread> find_spread(std::span<const Run> runs, double threshold) {
  std::vector<Spread> found;
  const Sides both{runs, runs};
  for (const std::string& stage : common_stages(both)) {
    std::vector<LeftOut> ignored;
    const ComparableSteps steps = comparable_steps(both, stage, ignored);
    const profile::Stage& first = *find_measured(runs.front().profile.stages, stage);
    const bool in_steps = first.step_count > 0 && !steps.groups.empty();
    const ComparableInstances instances = comparable_instances(both, stage, ignored);
    const auto add = [&](Measured measured, Per per, Times times, auto values) {
      if (!values || values->empty()) return;
      Spread& spread = found.emplace_back();
      spread.stage = stage;
      spread.quantity = {measured, per};
      spread.times = times;
      spread.values = std::move(*values);
      fill_spread(threshold, spread);
    };
    const Per per = in_steps ? Per::step : Per::instance;
    if (untraced_on_both(both, stage)) {
      add(Measured::wall, first.untraced->per_step ? Per::step : Per::instance, Times::untraced,
          untraced(runs, stage));
    } else {
      add(Measured::wall, per, Times::recorded,
          in_steps ? recorded(steps.base, &profile::Step::wall)
                   : recorded(instances.base, &profile::Instance::wall));
    }
    add(Measured::busy, per, Times::recorded,
        in_steps ? recorded(steps.base, &profile::Step::gpu_busy)
                 : recorded(instances.base, &profile::Instance::gpu_busy));
  }
  return found;
}

}  // namespace llmprof::compare
