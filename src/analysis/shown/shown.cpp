#include "analysis/shown/shown.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

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
  shown.floor = stage.floor;
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

// Kernels in each stage, without warm-up unless the stage has nothing else.
void show_kernels(profile::Profile& profile) {
  for (Stage& stage : profile.stages) {
    std::vector<profile::TimeInStage*> rows;
    for (profile::Kernel& kernel : profile.kernels) {
      for (auto& [name, time] : kernel.stages) {
        if (name == stage.name) rows.push_back(&time);
      }
    }
    const bool steady =
        std::ranges::any_of(rows, [](const auto* row) { return row->steady_calls > 0; });
    stage.shown.warmup_only = !steady && !rows.empty();
    double all = 0;
    for (const auto* row : rows) all += (steady ? row->steady_total : row->total).value;
    for (profile::TimeInStage* row : rows) {
      const uint64_t calls = steady ? row->steady_calls : row->calls;
      const double total = (steady ? row->steady_total : row->total).value;
      row->mean.reset();
      row->share.reset();
      if (calls == 0) continue;
      row->mean = profile::Milliseconds{total / static_cast<double>(calls)};
      if (all > 0) row->share = profile::Share{total / all};
    }
  }
}

// Marks the rows that reports pick out.
void show_choices(profile::Profile& profile) {
  for (Stage& stage : profile.stages) stage.shown.longest = false;
  const auto longest = std::ranges::max_element(
      profile.stages, {}, [](const Stage& stage) { return stage.shown.share_of_stage_time; });
  if (longest != profile.stages.end()) longest->shown.longest = true;
  for (profile::DeviceTime& row : profile.device_time) row.longest = false;
  const auto device = std::ranges::max_element(profile.device_time, {}, &profile::DeviceTime::span);
  if (device != profile.device_time.end()) device->longest = true;
  if (auto& coverage = profile.coverage) {
    const auto& work = coverage->work_sum_share;
    coverage->shown_share = work ? work : coverage->kernel_sum_share;
  }
  profile::OperatorsFound& found = profile.operators_found;
  found.replayed_without_operator =
      found.graph_kernels - std::min(found.captured_kernels, found.graph_kernels);
}

void show_overhead(profile::Overhead& overhead) {
  overhead.worst.reset();
  const auto rank = [&](uint64_t row) {
    // A ratio with another cause says nothing about profiling.
    return std::pair(!overhead.passes[row].other_cause.has_value(), overhead.passes[row].ratio);
  };
  for (uint64_t i = 0; i < overhead.passes.size(); ++i) {
    // ncu replays kernels one by one: its times are never used.
    if (overhead.passes[i].pass == profile::RecordingName::ncu) continue;
    if (!overhead.worst || rank(i) > rank(*overhead.worst)) overhead.worst = i;
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
  shown::show_kernels(profile);
  shown::show_choices(profile);
  if (profile.overhead) shown::show_overhead(*profile.overhead);
  if (profile.job) shown::show_job(profile);
  if (profile.requests) shown::show_requests(*profile.requests);
}

bool complete_shown(profile::Profile& profile) {
  const auto& known = profile.token_times.shown;
  if (known && known->revision >= profile::kShownRevision) return false;
  add_shown(profile);
  return true;
}

}  // namespace llmprof::analysis
