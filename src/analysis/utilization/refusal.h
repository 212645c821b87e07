#pragma once

#include <string>

#include "analysis/utilization/utilization.h"

namespace llmprof {

// Where a figure of any stage is above its peak, takes back all figures and floors and says in each
// stage's `why_not` which one it was and which inputs to check, the likeliest to be wrong first.
void refuse_impossible(const Stages& stages, const ModelSpec& model, const std::string& gpu_wanted,
                       const std::string& gpu_captured, Utilization& use);

}  // namespace llmprof
