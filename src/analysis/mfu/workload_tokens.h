#pragma once

#include <optional>
#include <string_view>

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

}  // namespace llmprof::analysis
