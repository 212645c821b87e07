#include "analysis/shown/shown.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "analysis/shown/shown_times.h"
#include "base/units.h"

namespace llmprof::analysis::shown {
namespace {

using profile::IdleLevel;
using profile::Limit;
using profile::Stage;
using profile::StageShown;
using profile::TimePart;
using profile::TokenTimesShown;

// Above the first, waiting limits the speed; below the second, idle time does not matter.
constexpr double kMuchIdle = 0.25;
constexpr double kLittleIdle = 0.05;
// Share of the peak: above it, only less work (a smaller model, fewer bits) makes a stage faster.
constexpr double kNearTheLimit = 0.7;
constexpr std::array kCausedByHost = {TimePart::idle_launch,           TimePart::idle_host,
                                      TimePart::idle_synchronization,  TimePart::idle_before_first,
                                      TimePart::before_first_operator, TimePart::between_operators};

void judge_budget(const std::vector<profile::BudgetPart>& budget,
                  profile::StageJudgement& judgement) {
  Nanoseconds idle = 0;
  Nanoseconds host = 0;
  Nanoseconds largest_work = 0;
  for (const profile::BudgetPart& part : budget) {
    const Nanoseconds time = part.total_ns.value;
    if (part.idle) {
      idle += time;
      if (std::ranges::find(kCausedByHost, part.part) != kCausedByHost.end()) host += time;
    } else if (part.part != TimePart::not_traced) {
      largest_work = std::max(largest_work, time);
    }
  }
  judgement.mostly_idle = idle > largest_work;
  judgement.waits_for_host = 2 * host > idle;
}

// What the shown figures of a stage mean.
profile::StageJudgement judge(const profile::Stage& stage) {
  profile::StageJudgement judgement;
  const auto& idle_share = stage.shown.idle_share_of_wall;
  const bool much = idle_share && idle_share->value >= kMuchIdle;
  if (idle_share) {
    const bool little = idle_share->value < kLittleIdle;
    judgement.idle = much ? IdleLevel::much : little ? IdleLevel::little : IdleLevel::some;
  }
  if (stage.memory_bound && stage.shown.use_at_bound) {
    const bool near = stage.shown.use_at_bound->value >= kNearTheLimit;
    judgement.limit = !near ? Limit::room : much ? Limit::implausible : Limit::near;
  }
  if (stage.shown.budget) judge_budget(*stage.shown.budget, judgement);
  return judgement;
}

std::vector<profile::BudgetPart> untraced_budget(const Stage& stage) {
  std::vector<profile::BudgetPart> rows;
  for (const profile::UntracedPart& part : stage.untraced->budget) {
    const int64_t nanoseconds = std::llround(part.time.value * kNanosecondsPerMillisecond);
    const auto instances = static_cast<int64_t>(stage.wall.count);
    rows.push_back({part.part,
                    part.time,
                    part.share,
                    part.share,
                    part.per_step,
                    {nanoseconds * instances},
                    part.idle});
  }
  return rows;
}

void show_recorded(const Stage& stage, StageShown& shown) {
  shown.wall = shown_times(stage.wall);
  shown.step_wall = stage.step_wall;
  shown.wall_per_step = stage.wall_per_step;
  shown.share_of_stage_time = stage.share_of_stage_time;
  shown.gpu_busy_share_of_wall = stage.gpu_busy_share_of_wall;
  shown.idle = stage.idle;
  shown.idle_share_of_wall = stage.idle_share_of_wall;
  shown.budget = stage.budget;
  shown.mfu = stage.mfu;
  shown.mbu = stage.mbu;
  shown.wall_over_floor = stage.wall_over_floor;
}

void show_untraced(const Stage& stage, StageShown& shown) {
  const profile::UntracedTimes& own = *stage.untraced;
  // If only windows were traced, a recorded instance is longer than its recorded steps.
  const double slower = 1 + own.added_share.value;
  shown.without_tracing = true;
  shown.wall = shown_times(without_tracing(stage, stage.wall));
  if (stage.step_wall) shown.step_wall = scaled(*stage.step_wall, 1 / slower);
  if (own.per_step) shown.wall_per_step = own.per_step;
  if (stage.budget) shown.budget = untraced_budget(stage);
  shown.idle = own.idle;
  shown.idle_share_of_wall = own.idle_share;
  shown.gpu_busy_share_of_wall = profile::Share{own.busy.value / own.wall.value};
  scale_by(slower, shown.mfu.wall);
  scale_by(slower, shown.mbu.wall);
  if (shown.wall_over_floor) *shown.wall_over_floor /= slower;
}

// What limits the stage, if both MFU and MBU are known.
void show_bound(const Stage& stage, StageShown& shown) {
  if (!stage.floor || !shown.mfu.wall || !shown.mfu.gpu_busy || !shown.mbu.wall ||
      !shown.mbu.gpu_busy) {
    return;
  }
  const bool memory = stage.memory_bound.value_or(false);
  shown.bound = memory ? profile::Bound::memory : profile::Bound::compute;
  shown.use_at_bound = memory ? shown.mbu.wall : shown.mfu.wall;
}

std::optional<profile::FlopsPerSecond> rate(const Stage& stage,
                                            const std::optional<profile::Milliseconds>& time) {
  if (!stage.flops || !time || time->value <= 0) return std::nullopt;
  return profile::FlopsPerSecond{stage.flops->value / (time->value / kMillisecondsPerSecond)};
}

void show_cost(Stage& stage) {
  StageShown& shown = stage.shown;
  shown.flops_per_s = rate(stage, shown.wall.mean);
  shown.flops_per_busy_s = rate(stage, stage.gpu_busy.mean);
  const auto bytes = stage.measured ? stage.measured->dram : std::nullopt;
  if (stage.flops && bytes && bytes->value > 0) {
    shown.flops_per_measured_byte = profile::FlopsPerByte{stage.flops->value / bytes->value};
  }
  for (profile::CostPart& part : stage.cost) {
    part.bytes = {part.weight_bytes.value + part.kv_bytes.value};
    shown.cost_weight_bytes.value += part.weight_bytes.value;
    shown.cost_kv_bytes.value += part.kv_bytes.value;
    shown.cost_bytes.value += part.bytes.value;
  }
}

// With tracing windows, instances include untraced time and only some of their steps.
bool recorded_in_windows(const profile::UntracedTimes& own) {
  return own.source == profile::UntracedSource::between_windows ||
         own.steps_recorded < own.steps_all;
}

void show_stage(Stage& stage) {
  StageShown& shown = stage.shown;
  shown = {};
  shown.in_windows = stage.untraced && recorded_in_windows(*stage.untraced);
  show_recorded(stage, shown);
  if (stage.untraced) show_untraced(stage, shown);
  show_bound(stage, shown);
  show_cost(stage);
  stage.judgement = judge(stage);
}

void show_savings(profile::PotentialSavings& stage) {
  constexpr double kWorthARow = 0.01;  // share of wall time
  for (profile::PartSaving& part : stage.parts) {
    part.shown = part.saving.value >= kWorthARow * stage.wall.value;
  }
}

void show_job(const std::vector<profile::Rank>& ranks, profile::Job& job) {
  job.steps_left_out = 0;
  job.clock_residual.reset();
  for (const profile::Rank& rank : ranks) {
    job.steps_left_out += rank.steps_left_out;
    const auto residual = rank.clock ? rank.clock->residual_p50 : std::nullopt;
    if (residual) job.clock_residual = std::max(job.clock_residual.value_or(*residual), *residual);
  }
}

double total_wall(const Stage& stage) {
  const auto& wall = stage.shown.wall;
  return wall.mean ? wall.mean->value * static_cast<double>(wall.count) : 0;
}

// Relative to the shown wall times of all stages.
void show_shares(profile::Profile& profile, TokenTimesShown& shown) {
  double wall = 0;
  double busy = 0;
  for (const Stage& stage : profile.stages) {
    wall += total_wall(stage);
    const auto& share = stage.shown.gpu_busy_share_of_wall;
    if (share) busy += total_wall(stage) * share->value;
  }
  if (wall <= 0) return;
  for (Stage& stage : profile.stages) stage.shown.share_of_stage_time = {total_wall(stage) / wall};
  if (shown.gpu_busy_share_of_wall) shown.gpu_busy_share_of_wall = profile::Share{busy / wall};
}

}  // namespace
}  // namespace llmprof::analysis::shown

namespace llmprof::analysis {

void add_shown(profile::Profile& profile) {
  for (profile::PotentialSavings& stage : profile.savings) shown::show_savings(stage);
  for (profile::Stage& stage : profile.stages) shown::show_stage(stage);
  profile::TokenTimesShown tokens = shown::shown_token_times(profile);
  const bool any = std::ranges::any_of(
      profile.stages, [](const profile::Stage& stage) { return stage.shown.without_tracing; });
  if (any) shown::show_shares(profile, tokens);
  profile.token_times.shown = std::move(tokens);
  if (profile.job) shown::show_job(profile.ranks, *profile.job);
}

}  // namespace llmprof::analysis
