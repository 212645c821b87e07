#pragma once

#include <optional>

#include "analysis/mfu/utilization.h"
#include "analysis/stages/stages.h"

namespace llmprof::analysis {

bool is_prefill(const Stage& stage);
bool is_decode(const Stage& stage);

// The mean number of steps of a stage's instances, without warm-ups; none without steps.
std::optional<double> mean_steps(const Stages& stages, uint32_t stage);

// Completes what the user and the workload leave open from the stages, each figure with its source.
// With continuous batching, tokens differ from step to step: nothing is filled in.
profile::Workload complete_workload(const Stages& stages, profile::Workload workload);

// The stage's cost with its basis, or why there is none. `workload` is completed from the stages.
StageUtilization stage_cost(const Stages& stages, uint32_t stage, const llm::ModelSpec& model,
                            const profile::Workload& workload);

// If a figure of any stage is above its peak, removes all figures and floors. Each stage's
// `why_not` then says which figure it was and which inputs to check, the likeliest to be wrong
// first.
void refuse_impossible(const Stages& stages, const llm::ModelSpec& model,
                       const RequestedDevice& device, UseOfPeaks& use);

// CPU peaks are themselves measurements, and CPU caches are faster than memory. Figures slightly
// above 1 are kept with a note; higher ones are removed individually, with the reason.
void refuse_above_measured(const Stages& stages, UseOfPeaks& use);

// Warns of inputs that the capture contradicts.
void check_inputs(const Stages& stages, const llm::ModelSpec& model,
                  const profile::Workload& workload, const RequestedDevice& device,
                  Diagnostics& warnings);

// If the model's FLOPs differ from those that operators recorded, one of the two is wrong.
void warn_of_recorded(const Stages& stages, UseOfPeaks& use);

}  // namespace llmprof::analysis
