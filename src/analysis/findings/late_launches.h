#pragma once

#include <vector>

#include "analysis/findings/stage_facts.h"

namespace llmprof::analysis {

bool is_host_late(BudgetPart cause);

// The host's late launches of a stage, split so that no time is counted twice. ns per instance.
struct LateLaunches {
  double between_steps = 0;  // without stalls
  double inside = 0;         // without stalls
  std::vector<const RepeatedGap*> stalls;
  std::vector<const IdleGap*> single_stalls;  // long, and not at a place that stalls again
};

LateLaunches take_apart(const StageFacts& facts);

}  // namespace llmprof::analysis
