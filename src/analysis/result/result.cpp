#include "analysis/result/result.h"

#include "analysis/budget/step_outliers.h"
#include "analysis/result/parts.h"

namespace llmprof::analysis {
namespace {

std::vector<profile::Diagnostic> diagnostics(const Diagnostics& from) {
  std::vector<profile::Diagnostic> rows;
  for (const Diagnostic& item : from.items()) {
    rows.push_back(
        {std::string(to_string(item.severity)), item.code, to_printable(item.message), item.count});
  }
  return rows;
}

}  // namespace

profile::Profile make_profile(const Prepared& prepared, const PassRun& run) {
  const result::Found found{prepared, run.results};
  profile::Profile profile;
  profile.tool.version = prepared.options.tool_version;
  profile.context = result::context(found);
  profile.selection = result::selection(prepared.options.selection);
  profile.model = result::model(found);
  profile.workload = result::workload(found);
  profile.engine = result::engine(found);
  profile.totals = result::totals(found);
  profile.device_time = result::device_time(found);
  profile.copies = result::copies(found);
  profile.stages_found = result::stages_found(found);
  profile.coverage = result::coverage(found);
  profile.token_times = result::token_times(found);
  profile.stages = result::stages(found);
  profile.stage_notes = result::stage_notes(found);
  profile.findings = result::findings(found);
  profile.recoverable = result::recoverable(found);
  profile.utilization = result::utilization(found);
  profile.stage1 = result::stage1(found);
  profile.kernels = result::kernels(found, profile.stages);
  profile.classes = result::classes(found);
  profile.kernels_topk = result::top_kernels(profile.kernels);
  profile.kernels_all_devices = result::kernels_on_all_devices(found);
  profile.measured_kernels_all_devices = result::measured_kernels_on_all_devices(found);
  profile.roofline = result::roofline(found);
  profile.operators = result::operators(found);
  profile.operators_found = result::operators_found(found);
  profile.gaps = result::gaps(found);
  profile.repeated_gaps = result::repeated_gaps(found);
  profile.slow_steps = result::slow_steps(found);
  profile.layers = result::layers(found);
  profile.layer_summary = result::layer_summary(found);
  profile.steps = result::steps(found);
  if (!profile.steps.empty()) profile.slow_step_rule_reasons = slow_step_rule();
  profile.kernel_sequences = result::kernel_sequences(found);
  profile.overhead = result::overhead(found);
  profile.captures_failed = prepared.options.run.captures_failed;
  profile.diagnostics = diagnostics(run.diagnostics);
  return profile;
}

}  // namespace llmprof::analysis
