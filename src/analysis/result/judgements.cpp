#include "analysis/result/judgements.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "analysis/budget/budget.h"

namespace llmprof::analysis {
namespace {

using profile::Share;

// Below it idle time does not matter; from the other on waiting, not work, sets the pace.
constexpr Share kLittleIdle = {0.05};
constexpr Share kMuchIdle = {0.25};
// From it on little can be saved without less work (a smaller model, fewer bits).
constexpr Share kNearTheLimit = {0.7};
// Below it the stages do not speak for the capture.
constexpr Share kEnoughCoverage = {0.9};

constexpr std::array<BudgetPart, 4> kHostParts = {BudgetPart::idle_launch, BudgetPart::idle_host,
                                                  BudgetPart::idle_synchronization,
                                                  BudgetPart::idle_before_first};

std::string_view name_of(BudgetPart part) { return budget_part_name(static_cast<size_t>(part)); }

bool is_caused_by_host(const std::string& part) {
  return std::any_of(kHostParts.begin(), kHostParts.end(),
                     [&](BudgetPart cause) { return part == name_of(cause); });
}

void judge_idle(const profile::Stage& stage, profile::StageJudgement& judgement) {
  if (!stage.budget || !stage.idle || !stage.idle_share_of_wall) return;
  const Share share = *stage.idle_share_of_wall;
  judgement.idle = share < kLittleIdle ? "little" : share < kMuchIdle ? "some" : "much";
  double longest_work = 0;
  double host = 0;
  for (const profile::BudgetPart& part : *stage.budget) {
    if (!part.idle && part.part != name_of(BudgetPart::not_traced)) {
      longest_work = std::max(longest_work, part.time.value);
    }
    if (is_caused_by_host(part.part)) host += part.time.value;
  }
  judgement.mostly_idle = stage.idle->value > longest_work;
  judgement.waits_for_host = 2 * host > stage.idle->value;
}

// Only where both ratios stand on both times: one that was refused casts doubt on the others.
void judge_limit(const profile::Stage& stage, profile::StageJudgement& judgement) {
  if (!stage.floor || !stage.memory_bound || !stage.mfu.wall || !stage.mfu.gpu_busy ||
      !stage.mbu.wall || !stage.mbu.gpu_busy) {
    return;
  }
  const Share used = *stage.memory_bound ? *stage.mbu.wall : *stage.mfu.wall;
  if (used < kNearTheLimit) {
    judgement.limit = "room";
  } else {
    judgement.limit = judgement.idle == "much" ? "implausible" : "near";
  }
}

}  // namespace

void add_judgements(profile::Profile& profile) {
  for (profile::Stage& stage : profile.stages) {
    stage.judgement = {};
    judge_idle(stage, stage.judgement);
    judge_limit(stage, stage.judgement);
  }
  if (profile.coverage && profile.coverage->kernel_sum_share) {
    profile.coverage->representative = *profile.coverage->kernel_sum_share >= kEnoughCoverage;
  }
}

}  // namespace llmprof::analysis
