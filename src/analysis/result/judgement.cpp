#include <algorithm>

#include "analysis/result/parts.h"

namespace llmprof::analysis::result {
namespace {

// Above it waiting sets the pace; below the other, idle time does not matter.
constexpr double kMuchIdle = 0.25;
constexpr double kLittleIdle = 0.05;
// Of the peak: above it only less work (a smaller model, fewer bits) makes a stage faster.
constexpr double kNearTheLimit = 0.7;

profile::IdleLevel idle_level(double share) {
  if (share < kLittleIdle) return profile::IdleLevel::little;
  return share >= kMuchIdle ? profile::IdleLevel::much : profile::IdleLevel::some;
}

bool caused_by_host(BudgetPart part) {
  return part == BudgetPart::idle_launch || part == BudgetPart::idle_host ||
         part == BudgetPart::idle_synchronization || part == BudgetPart::idle_before_first;
}

// Of the peak that bounds the stage; none where MFU or MBU is missing.
std::optional<double> share_of_limit(const profile::Stage& stage) {
  const auto whole = [](const profile::Ratios& ratios) { return ratios.wall && ratios.gpu_busy; };
  if (!stage.memory_bound || !whole(stage.mfu) || !whole(stage.mbu)) return std::nullopt;
  const double recorded = *stage.memory_bound ? stage.mbu.wall->value : stage.mfu.wall->value;
  if (!stage.unwatched) return recorded;
  return recorded * stage.wall.mean->value / stage.unwatched->wall.value;
}

}  // namespace

profile::StageJudgement judge(const profile::Stage& stage, const StageBudget* budget) {
  profile::StageJudgement judgement;
  const auto known_share =
      stage.unwatched ? std::optional(stage.unwatched->idle_share) : stage.idle_share_of_wall;
  const double idle_share = known_share ? known_share->value : 0;
  if (known_share) judgement.idle = idle_level(idle_share);
  if (const auto limit = share_of_limit(stage)) {
    const bool near = *limit >= kNearTheLimit;
    judgement.limit = !near                     ? profile::Limit::room
                      : idle_share >= kMuchIdle ? profile::Limit::implausible
                                                : profile::Limit::near;
  }
  if (budget == nullptr || budget->instances == 0) return judgement;
  Nanoseconds idle = 0;
  Nanoseconds host = 0;
  Nanoseconds largest_work = 0;
  for (size_t part = 0; part < kBudgetParts; ++part) {
    const Nanoseconds time = budget->total[part];
    const auto kind = static_cast<BudgetPart>(part);
    if (is_idle(part)) {
      idle += time;
      if (caused_by_host(kind)) host += time;
    } else if (kind != BudgetPart::not_traced) {
      largest_work = std::max(largest_work, time);
    }
  }
  judgement.mostly_idle = idle > largest_work;
  judgement.waits_for_host = 2 * host > idle;
  return judgement;
}

}  // namespace llmprof::analysis::result
