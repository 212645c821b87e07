#pragma once

#include "analysis/mfu/utilization.h"
#include "analysis/stages/stages.h"

namespace llmprof::analysis {

// What one instance of a stage computes and moves on one GPU.
struct StageCost {
  llm::PassCost cost;
  profile::Reasons basis;    // the passes that it counts
  profile::Reasons why_not;  // why there is no cost
  bool whole = true;  // false: attention and the KV cache are left out, contexts being unknown
};

// `workload` is completed from the stages.
StageCost stage_cost(const Stages& stages, uint32_t stage, const llm::ModelSpec& model,
                     const Workload& workload);

}  // namespace llmprof::analysis
