#include <algorithm>
#include <functional>

#include "analysis/result/parts.h"
#include "analysis/statistics/values.h"

namespace llmprof::analysis::result {
namespace {

std::vector<profile::UnwatchedPart> budget_of(trace::DeviceKind device, const StageUnwatched& from,
                                              double steps) {
  std::vector<profile::UnwatchedPart> rows;
  for (size_t part = 0; part < kBudgetParts; ++part) {
    if (from.parts[part] <= 0) continue;
    const BudgetPart name = budget_part(part, device);
    auto known = std::ranges::find(rows, name, &profile::UnwatchedPart::part);
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
  std::ranges::stable_sort(rows, std::greater(), &profile::UnwatchedPart::time);
  return rows;
}

}  // namespace

void add_unwatched(const StageParts& found, uint32_t index, profile::Stage& stage) {
  const auto& all = found.unwatched.stages;
  if (index >= all.size()) return;
  const StageUnwatched& from = all[index];
  if (!from.known()) {
    stage.unwatched_why_not = from.why_not;
    return;
  }
  const StageTracing tracing = stage_tracing(found.stages, index);
  profile::Unwatched& told = stage.unwatched.emplace();
  told.source = from.source;
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
  told.budget = budget_of(found.prepared.device, from, steps);
}

}  // namespace llmprof::analysis::result
