#pragma once

#include <string>
#include <vector>

#include "compare/model/diff.h"
#include "compare/model/sides.h"

namespace llmprof::compare {

// Steps of one run that are compared, in the order of time.
struct StepsOfRun {
  std::vector<const profile::Step*> steps;
  std::vector<uint32_t> groups;  // row of ComparableSteps::groups, one per step
};

// Steps of both sides by what makes them alike: kind, batch, tokens and range of context.
struct ComparableSteps {
  std::vector<StepGroup> groups;
  std::vector<StepsOfRun> base;  // one per run
  std::vector<StepsOfRun> now;
};

// What is left out is added to `left_out`.
ComparableSteps comparable_steps(const Sides& sides, const std::string& stage,
                                 std::vector<LeftOut>& left_out);

struct ComparableInstances {
  std::vector<std::vector<const profile::Instance*>> base;  // per run
  std::vector<std::vector<const profile::Instance*>> now;
};
ComparableInstances comparable_instances(const Sides& sides, const std::string& stage,
                                         std::vector<LeftOut>& left_out);

}  // namespace llmprof::compare
