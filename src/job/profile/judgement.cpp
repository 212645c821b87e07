#include "job/profile/judgement.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace llmprof::job::result {
namespace {

constexpr double kMuchIdle = 0.25;
constexpr double kLittleIdle = 0.05;
constexpr double kNearTheLimit = 0.7;
constexpr std::array<std::string_view, 5> kCausedByHost = {
    "idle: launch-bound", "idle: host between launches", "idle: synchronisation",
    "idle: before the first GPU work", "before the first operator"};

}  // namespace

profile::StageJudgement judge_stage(const profile::Stage& stage) {
  profile::StageJudgement judgement;
  const auto known_share =
      stage.unwatched ? std::optional(stage.unwatched->idle_share) : stage.idle_share_of_wall;
  const double idle_share = known_share ? known_share->value : 0;
  if (known_share) {
    judgement.idle = idle_share < kLittleIdle  ? profile::IdleLevel::little
                     : idle_share >= kMuchIdle ? profile::IdleLevel::much
                                               : profile::IdleLevel::some;
  }
  const bool known = stage.memory_bound && stage.mfu.wall && stage.mfu.gpu_busy && stage.mbu.wall &&
                     stage.mbu.gpu_busy;
  if (known) {
    double limit = *stage.memory_bound ? stage.mbu.wall->value : stage.mfu.wall->value;
    if (stage.unwatched) limit *= stage.wall.mean->value / stage.unwatched->wall.value;
    judgement.limit = limit < kNearTheLimit     ? profile::Limit::room
                      : idle_share >= kMuchIdle ? profile::Limit::implausible
                                                : profile::Limit::near;
  }
  if (!stage.budget) return judgement;
  Nanoseconds idle = 0;
  Nanoseconds host = 0;
  Nanoseconds largest_work = 0;
  for (const profile::BudgetPart& part : *stage.budget) {
    const Nanoseconds time = part.total_ns.value;
    if (part.idle) {
      idle += time;
      const bool by_host =
          std::find(kCausedByHost.begin(), kCausedByHost.end(), part.part) != kCausedByHost.end();
      if (by_host) host += time;
    } else if (part.part != "not traced") {
      largest_work = std::max(largest_work, time);
    }
  }
  judgement.mostly_idle = idle > largest_work;
  judgement.waits_for_host = 2 * host > idle;
  return judgement;
}

}  // namespace llmprof::job::result
