#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/mfu/utilization.h"
#include "analysis/stages/stages.h"

namespace llmprof::analysis {

bool is_prefill(const Stage& stage);
bool is_decode(const Stage& stage);

// The mean number of steps of a stage's instances, without warm-ups; none without steps.
std::optional<double> mean_steps(const Stages& stages, uint32_t stage);

// Completes what the user and the workload leave open from the stages, each figure with its source.
// With continuous batching, tokens differ from step to step: nothing is filled in.
Workload complete_workload(const Stages& stages, Workload workload);

// The figure as a reason's value; its text is the source.
void add_count(std::string_view name, const TokenCount& count, profile::FindingValues& values);

// The stage's cost with its basis, or why there is none. `workload` is completed from the stages.
StageUtilization stage_cost(const Stages& stages, uint32_t stage, const llm::ModelSpec& model,
                            const Workload& workload);

// If a figure of any stage is above its peak, removes all figures and floors. Each stage's
// `why_not` then says which figure it was and which inputs to check, the likeliest to be wrong
// first.
void refuse_impossible(const Stages& stages, const llm::ModelSpec& model,
                       const RequestedDevice& device, Utilization& use);

// CPU peaks are themselves measurements, and CPU caches are faster than memory. Figures slightly
// above 1 are kept with a note; higher ones are removed individually, with the reason.
void refuse_above_measured(const Stages& stages, Utilization& use);

std::vector<InputWarning> input_warnings(const Stages& stages, const llm::ModelSpec& model,
                                         const Workload& workload, const std::string& gpu_wanted,
                                         const std::string& gpu_captured);

// If the model's FLOPs differ from those that operators recorded, one of the two is wrong.
void warn_of_recorded(const Stages& stages, Utilization& use);

}  // namespace llmprof::analysis
