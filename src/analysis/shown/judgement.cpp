#include "analysis/shown/judgement.h"

#include <algorithm>
#include <array>

namespace llmprof::analysis::shown {
namespace {

using profile::IdleLevel;
using profile::Limit;

// Above it waiting sets the pace; below the other, idle time does not matter.
constexpr double kMuchIdle = 0.25;
constexpr double kLittleIdle = 0.05;
// Of the peak: above it only less work (a smaller model, fewer bits) makes a stage faster.
constexpr double kNearTheLimit = 0.7;
using profile::TimePart;
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

}  // namespace

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

}  // namespace llmprof::analysis::shown
