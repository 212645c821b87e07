#include "job/profile/parts.h"

#include <algorithm>

namespace llmprof::job::result {

std::optional<profile::Unwatched> unwatched_of_job(const std::vector<const profile::Stage*>& own,
                                                   const profile::Stage& stage) {
  const profile::Unwatched* timed = nullptr;
  for (const profile::Stage* rank : own) {
    if (rank == nullptr) continue;
    if (!rank->unwatched || rank->unwatched->source != profile::UnwatchedSource::workload_clock)
      return std::nullopt;
    if (timed == nullptr) timed = &*rank->unwatched;
  }
  const bool measured = stage.wall.mean && stage.wall.mean->value > 0 && stage.idle && stage.budget;
  if (timed == nullptr || !measured || timed->wall.value <= 0 || stage.tracing) return std::nullopt;
  const double recorded = stage.wall.mean->value;
  const double idle = stage.idle->value;
  const double busy = recorded - idle;
  profile::Unwatched told;
  told.source = timed->source;
  told.wall = timed->wall;
  told.per_step = timed->per_step;
  told.added = {recorded - told.wall.value};
  told.added_share = {told.added.value / told.wall.value};
  told.busy = {std::min(busy, told.wall.value)};
  told.idle = {told.wall.value - told.busy.value};
  told.idle_share = {told.idle.value / told.wall.value};
  told.busy_scaled = busy > told.wall.value;
  told.passes_timed = timed->passes_timed;
  told.instances_timed = timed->instances_timed;
  told.steps_recorded = stage.step_count;
  told.steps_all = std::max(stage.step_count, timed->steps_all);
  const double of_busy = busy > 0 ? told.busy.value / busy : 0;
  const double of_idle = idle > 0 ? told.idle.value / idle : 0;
  const double steps = told.per_step ? told.wall.value / told.per_step->value : 0;
  for (const profile::BudgetPart& part : *stage.budget) {
    profile::UnwatchedPart row;
    row.part = part.part;
    row.idle = part.idle;
    row.time = {part.time.value * (part.idle ? of_idle : of_busy)};
    if (row.time.value <= 0) continue;
    row.share = {row.time.value / told.wall.value};
    if (steps > 0) row.per_step = profile::Milliseconds{row.time.value / steps};
    told.budget.push_back(std::move(row));
  }
  std::ranges::stable_sort(told.budget, std::greater{}, &profile::UnwatchedPart::time);
  return told;
}

}  // namespace llmprof::job::result
