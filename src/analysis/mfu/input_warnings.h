#pragma once

#include <string>
#include <vector>

#include "analysis/mfu/utilization.h"

namespace llmprof::analysis {

std::vector<InputWarning> input_warnings(const Stages& stages, const llm::ModelSpec& model,
                                         const Workload& workload, const std::string& gpu_wanted,
                                         const std::string& gpu_captured);

// Where the model's FLOPs and those that operators recorded are not the same, one of the two is
// wrong.
void warn_of_recorded(const Stages& stages, Utilization& use);

}  // namespace llmprof::analysis
