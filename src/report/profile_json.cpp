#include "report/profile_json.h"

#include "report/json/json_sections.h"

namespace llmprof::report {
namespace {

constexpr int kSchemaVersion = 1;
constexpr size_t kSections = 35;
constexpr int kIndent = 2;

}  // namespace

std::string to_profile_json(const analysis::Profile& profile, std::string_view tool_version) {
  const Facts facts = derive_facts(profile);
  JsonObject json(kSections);
  json.add("schema_version", kSchemaVersion);
  json.add("tool", {{"name", "llmprof"}, {"version", tool_version}});
  json.add("context", context_json(profile));
  json.add("selection", selection_json(profile));
  json.add("model", model_json(profile));
  json.add("workload", workload_json(profile));
  json.add("totals", totals_json(profile));
  json.add("stages_found", stage_finding_json(profile));
  json.add("coverage", coverage_json(profile, facts));
  json.add("token_times", token_times_json(profile, facts));
  json.add("stages", stages_json(profile, facts));
  json.add("stage_notes", stage_notes_json(profile));
  json.add("findings", findings_json(profile));
  json.add("recoverable", recoverable_json(profile));
  json.add("utilization", utilization_json(profile));
  json.add("stage1", stage1_json(profile, facts));
  json.add("kernels", kernels_json(profile, facts));
  json.add("classes", classes_json(profile));
  json.add("kernels_topk", kernels_topk_json(profile));
  json.add("kernels_all_devices", kernels_all_devices_json(profile, facts));
  json.add("roofline", roofline_json(profile, facts));
  json.add("operators", operators_json(profile));
  json.add("operators_found", operators_found_json(profile, facts));
  json.add("gaps", gaps_json(profile, facts));
  json.add("repeated_gaps", repeated_gaps_json(profile, facts));
  json.add("slow_steps", slow_steps_json(profile, facts));
  json.add("layers", layers_json(profile));
  json.add("layer_summary", layer_summary_json(profile, facts));
  json.add("steps", steps_json(profile, facts));
  json.add("overhead", overhead_json(profile));
  json.add("captures_failed", captures_failed_json(profile));
  json.add("diagnostics", diagnostics_json(profile));
  return json.take().dump(kIndent) + "\n";
}

}  // namespace llmprof::report
