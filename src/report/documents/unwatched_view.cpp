#include "report/documents/unwatched_view.h"

#include <algorithm>

namespace llmprof::report {
namespace {

using profile::Milliseconds;

void scale(std::optional<Milliseconds>& time, double by) {
  if (time) time->value *= by;
}

void scale(profile::Statistics<Milliseconds>& times, double by) {
  for (auto* value : {&times.mean, &times.std, &times.min, &times.p50, &times.p99, &times.max}) {
    scale(*value, by);
  }
}

// The spread among recorded instances says nothing where it is that of pieces in windows.
void keep_mean(profile::Statistics<Milliseconds>& times, double mean) {
  times = {.mean = Milliseconds{mean},
           .std = {},
           .min = {},
           .p50 = {},
           .p99 = {},
           .max = {},
           .count = times.count};
}

void scale(std::optional<profile::Share>& share, double by) {
  if (share) share->value *= by;
}

std::vector<profile::BudgetPart> budget_of(const profile::Stage& stage) {
  std::vector<profile::BudgetPart> rows;
  for (const profile::UnwatchedPart& part : stage.unwatched->budget) {
    profile::BudgetPart& row = rows.emplace_back();
    row.part = part.part;
    row.time = part.time;
    row.share = part.share;
    row.share_of_traced = part.share;
    row.per_step = part.per_step;
    row.idle = part.idle;
  }
  return rows;
}

// How much longer the recorded stage was: times are divided by it.
double slowdown(const profile::Stage& stage) {
  return stage.wall.mean->value / stage.unwatched->wall.value;
}

double total_wall(const profile::Stage& stage) {
  return stage.wall.mean ? stage.wall.mean->value * static_cast<double>(stage.wall.count) : 0;
}

void show_unwatched(profile::Stage& stage) {
  const profile::Unwatched& own = *stage.unwatched;
  // Where only windows were traced, a recorded instance is longer than its recorded steps.
  const double slower = 1 + own.added_share.value;
  if (recorded_in_windows(stage)) {
    keep_mean(stage.wall, own.wall.value);
  } else {
    scale(stage.wall, 1 / slowdown(stage));
  }
  if (stage.step_wall) scale(*stage.step_wall, 1 / slower);
  if (own.per_step) stage.wall_per_step = own.per_step;
  if (stage.budget) stage.budget = budget_of(stage);
  stage.idle = own.idle;
  stage.idle_share_of_wall = own.idle_share;
  stage.gpu_busy_share_of_wall = profile::Share{own.busy.value / own.wall.value};
  scale(stage.mfu.wall, slower);
  scale(stage.mbu.wall, slower);
  if (stage.wall_over_floor) *stage.wall_over_floor /= slower;
}

const profile::Stage* known_stage(const profile::Profile& profile, std::string_view name) {
  for (const profile::Stage& stage : profile.stages) {
    if (stage.name == name && stage.unwatched) return &stage;
  }
  return nullptr;
}

void show_token_times_of_windows(const profile::Unwatched& decode, profile::TokenTimes& times) {
  if (!times.time_per_output_token || !times.time_per_output_token->mean) return;
  const double faster = times.time_per_output_token->mean->value / decode.per_step->value;
  keep_mean(*times.time_per_output_token, decode.per_step->value);
  if (times.tokens_per_s) times.tokens_per_s->value *= faster;
  if (times.tokens_per_s_per_sequence) times.tokens_per_s_per_sequence->value *= faster;
  for (profile::BatchTimes& row : times.by_batch) {
    scale(row.step_wall, 1 / (1 + decode.added_share.value));
    if (row.tokens_per_s) row.tokens_per_s->value *= 1 + decode.added_share.value;
  }
}

void show_token_times(const profile::Profile& recorded, profile::TokenTimes& times) {
  const profile::Stage* prefill = known_stage(recorded, "prefill");
  const profile::Stage* decode = known_stage(recorded, "decode");
  if (prefill != nullptr && times.time_to_first_token) {
    if (recorded_in_windows(*prefill)) {
      keep_mean(*times.time_to_first_token, prefill->unwatched->wall.value);
    } else {
      scale(*times.time_to_first_token, 1 / slowdown(*prefill));
    }
  }
  if (decode != nullptr && recorded_in_windows(*decode) && decode->unwatched->per_step) {
    show_token_times_of_windows(*decode->unwatched, times);
  } else if (decode != nullptr) {
    const double slower = slowdown(*decode);
    if (times.time_per_output_token) scale(*times.time_per_output_token, 1 / slower);
    if (times.tokens_per_s) times.tokens_per_s->value *= slower;
    if (times.tokens_per_s_per_sequence) times.tokens_per_s_per_sequence->value *= slower;
    for (profile::BatchTimes& row : times.by_batch) {
      scale(row.step_wall, 1 / slower);
      if (row.tokens_per_s) row.tokens_per_s->value *= slower;
    }
  }
  const bool whole = prefill != nullptr && decode != nullptr && !recorded_in_windows(*decode);
  if (times.request && decode != nullptr && recorded_in_windows(*decode)) times.request.reset();
  if (times.request && whole) {
    times.request = Milliseconds{prefill->unwatched->wall.value + decode->unwatched->wall.value};
  }
}

// Over the shown wall times of all stages.
void show_shares(profile::Profile& profile) {
  double wall = 0;
  double busy = 0;
  for (const profile::Stage& stage : profile.stages) {
    wall += total_wall(stage);
    if (const auto& share = stage.gpu_busy_share_of_wall) busy += total_wall(stage) * share->value;
  }
  if (wall <= 0) return;
  for (profile::Stage& stage : profile.stages) {
    stage.share_of_stage_time = {total_wall(stage) / wall};
  }
  if (profile.token_times.gpu_busy_share_of_wall) {
    profile.token_times.gpu_busy_share_of_wall = profile::Share{busy / wall};
  }
}

}  // namespace

bool recorded_in_windows(const profile::Stage& stage) {
  if (!stage.unwatched) return false;
  const profile::Unwatched& own = *stage.unwatched;
  return own.source == "between_windows" || own.steps_recorded < own.steps_all;
}

profile::Profile unwatched_view(const profile::Profile& profile) {
  profile::Profile shown = profile;
  if (std::none_of(profile.stages.begin(), profile.stages.end(),
                   [](const profile::Stage& stage) { return stage.unwatched.has_value(); })) {
    return shown;
  }
  show_token_times(profile, shown.token_times);
  for (profile::Stage& stage : shown.stages) {
    if (stage.unwatched) show_unwatched(stage);
  }
  show_shares(shown);
  return shown;
}

}  // namespace llmprof::report
