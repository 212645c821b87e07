#include "job/waits/measure_waits.h"

#include <algorithm>
#include <cmath>

namespace llmprof::job {
namespace {

// Time of copies and fills only, per unit; the budget covers all units except warm-up.
double copies_per_unit(const profile::Stage& stage, bool by_step) {
  if (!stage.budget) return 0;
  for (const profile::BudgetPart& part : *stage.budget) {
    if (part.part != profile::TimePart::memory_operations) continue;
    const uint64_t number = by_step ? stage.step_count : stage.instance_count - stage.warmup_count;
    return number == 0 ? 0 : static_cast<double>(part.total_ns.value) / static_cast<double>(number);
  }
  return 0;
}

struct UnitSums {
  double busy = 0;
  uint64_t tokens = 0;
  bool tokens_known = true;
};

UnitSums sums_of(const RankPart& part, uint32_t number, const Units& units, uint32_t stage) {
  UnitSums sums;
  for (uint32_t unit = 0; unit < units.units().size(); ++unit) {
    if (units.units()[unit].stage != stage || !units.units()[unit].counted) continue;
    const uint32_t row = units.row(unit, number);
    if (row == kNoRow) continue;
    sums.busy += static_cast<double>(own_busy(part, units, unit, row));
    const auto tokens = units.by_step(stage) ? part.steps.tokens(row) : std::optional<uint64_t>();
    sums.tokens_known = sums.tokens_known && tokens.has_value();
    sums.tokens += tokens.value_or(0);
  }
  return sums;
}

void add_measured(const profile::Stage& stage, profile::RankStage& into) {
  into.mfu = stage.mfu.wall;
  if (!stage.measured) return;
  if (stage.measured->sm_clock) into.sm_clock = stage.measured->sm_clock->mean;
  if (stage.measured->energy && stage.measured->steps && *stage.measured->steps > 0) {
    into.energy = profile::Joules{stage.measured->energy->value / *stage.measured->steps};
  }
}

profile::RankStage rank_stage(const RankPart& part, uint32_t number, const Units& units,
                              uint32_t stage, const RankCommunication& communication) {
  const profile::Stage& own = *stage_of(part, units.stages()[stage]);
  const UnitSums sums = sums_of(part, number, units, stage);
  const auto n = static_cast<double>(units.counted(stage));
  const double wall = static_cast<double>(units.wall(stage)) / n;
  const double transfer = std::max(0.0, communication.transfer) / n;
  const double wait = communication.wait / n;
  const double copies = std::min(copies_per_unit(own, units.by_step(stage)),
                                 std::max(0.0, sums.busy / n - transfer - wait));
  // Work of a rank ahead of the job's step may lie before the step; on average it does not.
  const double compute = std::clamp(sums.busy / n - transfer - wait - copies, 0.0,
                                    std::max(0.0, wall - transfer - wait - copies));
  profile::RankStage made;
  made.stage = units.stages()[stage];
  made.wall = profile::to_milliseconds(wall);
  made.compute = profile::to_milliseconds(compute);
  made.transfer = profile::to_milliseconds(transfer);
  made.wait = profile::to_milliseconds(wait);
  made.hidden_communication = profile::to_milliseconds(communication.hidden / n);
  made.copies = profile::to_milliseconds(copies);
  made.idle = profile::to_milliseconds(wall - compute - transfer - wait - copies);
  made.caused_wait = profile::to_milliseconds(communication.caused / n);
  made.steps = units.counted(stage);
  if (sums.tokens_known && sums.tokens > 0) made.tokens = sums.tokens;
  add_measured(own, made);
  return made;
}

}  // namespace

Nanoseconds own_wall(const RankPart& part, const Units& units, uint32_t unit, uint32_t row) {
  const uint32_t stage = units.units()[unit].stage;
  if (units.by_step(stage)) return part.step_end[row] - part.step_start[row];
  return profile::to_nanoseconds(stage_of(part, units.stages()[stage])->instances[row].wall);
}

Nanoseconds own_busy(const RankPart& part, const Units& units, uint32_t unit, uint32_t row) {
  const uint32_t stage = units.units()[unit].stage;
  if (units.by_step(stage)) return part.steps.gpu_busy(row);
  return profile::to_nanoseconds(stage_of(part, units.stages()[stage])->instances[row].gpu_busy);
}

std::vector<std::vector<profile::RankStage>> rank_stages(const std::vector<RankPart>& parts,
                                                         const Units& units, const Waits& waits) {
  std::vector<std::vector<profile::RankStage>> made(parts.size());
  for (uint32_t part = 0; part < parts.size(); ++part) {
    for (uint32_t stage = 0; stage < units.stages().size(); ++stage) {
      if (units.counted(stage) == 0) continue;
      if (stage_of(parts[part], units.stages()[stage]) == nullptr) continue;
      made[part].push_back(
          rank_stage(parts[part], part, units, stage, waits.by_stage[stage][part]));
    }
  }
  return made;
}

uint64_t units_per_bin(const Units& units) {
  return std::max<uint64_t>(1, (units.units().size() + kMostBins - 1) / kMostBins);
}

profile::Heat make_heat(const std::vector<RankPart>& parts, const Units& units,
                        const Waits& waits) {
  profile::Heat heat;
  heat.steps_per_bin = units_per_bin(units);
  const size_t bins = (units.units().size() + heat.steps_per_bin - 1) / heat.steps_per_bin;
  for (uint32_t part = 0; part < parts.size(); ++part) {
    profile::HeatRow row;
    row.rank = parts[part].identity.rank;
    std::vector<double> wall(bins, 0);
    std::vector<uint64_t> number(bins, 0);
    for (uint32_t unit = 0; unit < units.units().size(); ++unit) {
      const uint32_t own = units.row(unit, part);
      if (own == kNoRow) continue;
      wall[unit / heat.steps_per_bin] +=
          static_cast<double>(own_wall(parts[part], units, unit, own));
      ++number[unit / heat.steps_per_bin];
    }
    for (size_t bin = 0; bin < bins; ++bin) {
      const auto n = static_cast<double>(number[bin]);
      const double wait = waits.by_bin[part][bin];
      row.wall_ms.push_back(
          n == 0 ? -1 : std::max(0.0, wall[bin] - wait) / n / kNanosecondsPerMillisecond);
      row.wait_ms.push_back(n == 0 ? -1 : wait / n / kNanosecondsPerMillisecond);
    }
    heat.rows.push_back(std::move(row));
  }
  std::ranges::sort(heat.rows, {}, &profile::HeatRow::rank);
  return heat;
}

}  // namespace llmprof::job
