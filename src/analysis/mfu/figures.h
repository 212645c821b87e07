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

// The mean number of steps of a stage's instances that are no warm-up; none without steps.
std::optional<double> mean_steps(const Stages& stages, uint32_t stage);

// Fills in what the user and the workload leave unsaid from what the stages show, each figure with
// its source. Under continuous batching every step has tokens of its own: nothing is filled in.
Workload complete_workload(const Stages& stages, Workload workload);

// The figure as a reason's value; its text is the source.
void add_count(std::string_view name, const TokenCount& count, profile::FindingValues& values);

// The stage's cost with its basis, or why there is none. `workload` is completed from the stages.
StageUtilization stage_cost(const Stages& stages, uint32_t stage, const llm::ModelSpec& model,
                            const Workload& workload);

// Where a figure of any stage is above its peak, takes back all figures and floors and says in each
// stage's `why_not` which one it was and which inputs to check, the likeliest to be wrong first.
void refuse_impossible(const Stages& stages, const llm::ModelSpec& model, const DeviceAsked& device,
                       Utilization& use);

// Peaks measured on a CPU are themselves measurements, and its caches are faster than its memory:
// figures a little above 1 stand with a note, others are taken back alone, with the reason.
void refuse_above_measured(const Stages& stages, Utilization& use);

std::vector<InputWarning> input_warnings(const Stages& stages, const llm::ModelSpec& model,
                                         const Workload& workload, const std::string& gpu_wanted,
                                         const std::string& gpu_captured);

// Where the model's FLOPs and those that operators recorded are not the same, one of the two is
// wrong.
void warn_of_recorded(const Stages& stages, Utilization& use);

}  // namespace llmprof::analysis
