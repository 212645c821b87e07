#include <algorithm>

#include "analysis/collection/stage_tracing.h"
#include "analysis/result/parts.h"
#include "analysis/result/values.h"

namespace llmprof::analysis::result {
namespace {

// What CUPTI and nsys add per kernel, ns (docs/tracing-cost.md): to one that a CUDA graph replays,
// the less the larger the kernels are; to a launch, on the CPU.
constexpr double kLeastInGraph = 250;
constexpr double kMostInGraph = 2000;
constexpr double kLeastPerLaunch = 1000;
constexpr double kMostPerLaunch = 2000;

std::vector<profile::UnwatchedPart> budget_of(const Found& found, const StageUnwatched& from,
                                              double steps) {
  std::vector<profile::UnwatchedPart> rows;
  for (size_t part = 0; part < kBudgetParts; ++part) {
    if (from.parts[part] <= 0) continue;
    const std::string name(budget_part_name(part, found.prepared.device));
    auto known = std::find_if(rows.begin(), rows.end(),
                              [&](const profile::UnwatchedPart& row) { return row.part == name; });
    if (known == rows.end()) {
      known = rows.insert(known, profile::UnwatchedPart{});
      known->part = name;
      known->idle = is_idle(part);
    }
    known->time.value += to_milliseconds(from.parts[part]).value;
  }
  for (profile::UnwatchedPart& row : rows) {
    row.share = {row.time.value / to_milliseconds(from.wall).value};
    if (from.per_step) row.per_step = profile::Milliseconds{row.time.value / steps};
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.time.value > b.time.value; });
  return rows;
}

uint64_t graph_kernels(const Found& found, uint32_t index) {
  const trace::KernelTable& kernels = found.prepared.trace.kernels;
  const Stages& stages = found.results.stages;
  uint64_t count = 0;
  for (size_t i = 0; i < kernels.size(); ++i) {
    const InstanceId instance = stages.owners.kernel_instance[i];
    if (!instance.valid()) continue;
    const StageInstance& owner = stages.instances[instance.index()];
    const bool replayed = (!kernels.graph.empty() && kernels.graph[i] != 0) ||
                          (!kernels.graph_node.empty() && kernels.graph_node[i] != 0);
    if (owner.stage == index && !owner.warmup && replayed) ++count;
  }
  return count;
}

void add_likely(const Found& found, uint32_t index, profile::Stage& stage) {
  if (found.prepared.device == trace::DeviceKind::cpu || stage.wall.count == 0) return;
  profile::LikelyAdded likely;
  likely.kernels = static_cast<uint64_t>(stage.kernel_count.mean.value_or(0));
  likely.graph_kernels = graph_kernels(found, index) / stage.wall.count;
  if (likely.kernels == 0) return;
  const auto in_graphs = static_cast<double>(likely.graph_kernels);
  const auto launched =
      static_cast<double>(likely.kernels - std::min(likely.kernels, likely.graph_kernels));
  // It shows as idle time.
  const double idle = stage.idle ? stage.idle->value : stage.wall.mean->value;
  const auto at_most_idle = [&](double nanoseconds) {
    return profile::Milliseconds{std::min(to_milliseconds(nanoseconds).value, idle)};
  };
  likely.low = at_most_idle(in_graphs * kLeastInGraph + launched * kLeastPerLaunch);
  likely.high = at_most_idle(in_graphs * kMostInGraph + launched * kMostPerLaunch);
  stage.likely_added = likely;
}

}  // namespace

void add_unwatched(const Found& found, uint32_t index, profile::Stage& stage) {
  const auto& all = found.results.unwatched.stages;
  if (index >= all.size()) return;
  const StageUnwatched& from = all[index];
  if (!from.known()) {
    stage.unwatched_why_not = std::string(to_string(from.why_not));
    return add_likely(found, index, stage);
  }
  const StageTracing tracing = stage_tracing(found.results.stages, index);
  profile::Unwatched& told = stage.unwatched.emplace();
  told.source = to_string(from.source);
  told.wall = to_milliseconds(from.wall);
  if (from.per_step) told.per_step = to_milliseconds(*from.per_step);
  told.added = to_milliseconds(from.added);
  told.added_share = {from.added / from.wall};
  told.busy = to_milliseconds(from.wall - from.idle);
  told.idle = to_milliseconds(from.idle);
  told.idle_share = {from.idle / from.wall};
  told.busy_scaled = from.busy_scale < 1;
  told.passes_timed = from.passes;
  told.instances_timed = from.instances;
  told.steps_recorded = tracing.steps_traced;
  told.steps_all = std::max(tracing.steps_all, from.all_passes);
  const double steps = from.per_step ? from.wall / *from.per_step : 1;
  told.budget = budget_of(found, from, steps);
}

}  // namespace llmprof::analysis::result
