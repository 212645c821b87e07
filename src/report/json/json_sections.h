#pragma once

#include "analysis/profile.h"
#include "report/facts.h"
#include "report/json/json_values.h"

// The sections of profile.json, one function each; docs/profile-schema.md tells what they hold.
namespace llmprof::report {

// Where it was captured, and what part of that is told.
Json selection_json(const analysis::Profile& profile);
Json context_json(const analysis::Profile& profile);
Json totals_json(const analysis::Profile& profile);
Json diagnostics_json(const analysis::Profile& profile);
Json overhead_json(const analysis::Profile& profile);
Json captures_failed_json(const analysis::Profile& profile);

// What ran, and how well it used the GPU.
Json model_json(const analysis::Profile& profile);
Json workload_json(const analysis::Profile& profile);
Json utilization_json(const analysis::Profile& profile);
Json stage1_json(const analysis::Profile& profile, const Facts& facts);

// Time.
Json stage_finding_json(const analysis::Profile& profile);
Json coverage_json(const analysis::Profile& profile, const Facts& facts);
Json stages_json(const analysis::Profile& profile, const Facts& facts);
// A stage as the GPU's counters and sensors saw it; null where nothing was sampled.
Json measured_json(const StageFacts& facts);
Json stage_notes_json(const analysis::Profile& profile);
Json steps_json(const analysis::Profile& profile, const Facts& facts);
Json token_times_json(const analysis::Profile& profile, const Facts& facts);
Json gaps_json(const analysis::Profile& profile, const Facts& facts);
Json repeated_gaps_json(const analysis::Profile& profile, const Facts& facts);
Json slow_steps_json(const analysis::Profile& profile, const Facts& facts);
Json layers_json(const analysis::Profile& profile);
Json layer_summary_json(const analysis::Profile& profile, const Facts& facts);

// Kernels and operators.
Json kernels_json(const analysis::Profile& profile, const Facts& facts);
Json classes_json(const analysis::Profile& profile);
Json kernels_topk_json(const analysis::Profile& profile);
Json operators_json(const analysis::Profile& profile);
Json kernels_all_devices_json(const analysis::Profile& profile, const Facts& facts);
Json operators_found_json(const analysis::Profile& profile, const Facts& facts);
Json roofline_json(const analysis::Profile& profile, const Facts& facts);

// What to do.
Json recoverable_json(const analysis::Profile& profile);
Json findings_json(const analysis::Profile& profile);

}  // namespace llmprof::report
