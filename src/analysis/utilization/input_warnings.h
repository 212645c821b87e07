#pragma once

#include <string>
#include <vector>

#include "analysis/utilization/utilization.h"

namespace llmprof {

std::vector<InputWarning> input_warnings(const Stages& stages, const ModelSpec& model,
                                         const Workload& workload, const std::string& gpu_wanted,
                                         const std::string& gpu_captured);

}  // namespace llmprof
