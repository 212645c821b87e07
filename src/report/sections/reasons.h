#pragma once

#include <string>
#include <string_view>

#include "profile/profile.h"

namespace llmprof::report {

// Of a job, in place of what is found from single events.
inline constexpr std::string_view kToldOfSingleRanks =
    "Told of single ranks: analyze the capture of one rank alone.";

// Why something is missing in this input, and what would record it, as clauses.
std::string why_no_stages(const profile::Profile& profile);
// The same in short, for sections that need stages.
std::string why_no_stage_figures(const profile::Profile& profile);
// Empty where the timeline of a GPU was analyzed.
std::string why_no_device_time(const profile::Profile& profile);
std::string why_no_steps(const profile::Profile& profile);
std::string why_no_layers(const profile::Profile& profile);
std::string why_no_utilization(const profile::Profile& profile);
std::string why_no_kernel_bounds(const profile::Profile& profile);
std::string why_no_operators(const profile::Profile& profile);
std::string why_no_findings(const profile::Profile& profile);
// That a PyTorch trace was recorded without the GPU's activities; empty where it was not.
std::string cpu_only_words(const profile::Profile& profile);
// That there are no stages, and why, as a sentence.
std::string no_stages_words(const profile::Profile& profile);

}  // namespace llmprof::report
