#include "report/json/json_sections.h"

namespace llmprof::report {

Json recoverable_json(const analysis::Profile& profile) {
  Json rows = Json::array();
  for (const analysis::StageRecoverable& stage : profile.recoverable) {
    Json parts = Json::array();
    for (const analysis::RecoverablePart& part : stage.parts) {
      Json per_token = nullptr;
      if (stage.tokens > 0) per_token = milliseconds(part.recoverable() / stage.tokens);
      parts.push_back({{"part", analysis::budget_part_name(part.part, profile.device)},
                       {"ms", milliseconds(part.time)},
                       {"floor_ms", milliseconds(part.floor)},
                       {"floor_rule", text_or_null(part.floor_rule)},
                       {"recoverable_ms", milliseconds(part.recoverable())},
                       {"recoverable_ms_per_token", std::move(per_token)}});
    }
    Json kernels = Json::array();
    for (const analysis::KernelRecoverable& kernel : profile.kernel_recoverable) {
      if (kernel.stage != stage.stage) continue;
      Json per_token = nullptr;
      if (stage.tokens > 0) per_token = milliseconds(kernel.recoverable() / stage.tokens);
      const analysis::KernelRow& row = profile.ranking.rows[kernel.row];
      kernels.push_back({{"short_name", row.description.short_name},
                         {"device", row.device},
                         {"ms", milliseconds(kernel.time)},
                         {"floor_ms", milliseconds(kernel.floor)},
                         {"floor_rule", text_or_null(kernel.floor_rule)},
                         {"floor_basis", analysis::floor_basis(kernel)},
                         {"recoverable_ms", milliseconds(kernel.recoverable())},
                         {"recoverable_ms_per_token", std::move(per_token)}});
    }
    rows.push_back({{"stage", to_printable(profile.stages.stages[stage.stage].name)},
                    {"wall_ms", milliseconds(stage.wall)},
                    {"bound_ms", milliseconds(stage.bound)},
                    {"bound_reason", text_or_null(stage.bound_reason)},
                    {"tokens", number_or_null(stage.tokens)},
                    {"parts", std::move(parts)},
                    {"kernels", std::move(kernels)}});
  }
  return rows;
}

Json findings_json(const analysis::Profile& profile) {
  Json rows = Json::array();
  for (const analysis::Finding& finding : profile.findings) {
    rows.push_back({{"title", to_printable(finding.title)},
                    {"evidence", to_printable(finding.evidence)},
                    {"recoverable_ms",
                     finding.blind ? Json(nullptr) : Json(milliseconds(finding.recoverable))},
                    {"total_recoverable_ms",
                     finding.blind ? Json(nullptr) : Json(milliseconds(finding.total_recoverable))},
                    {"unit", text_or_null(finding.unit)},
                    {"advice", to_printable(finding.advice)},
                    {"stage", text_or_null(finding.stage)},
                    {"recoverable_ms_per_token", milliseconds(finding.per_token)},
                    {"share_of_wall", finding.share_of_wall}});
  }
  return rows;
}

}  // namespace llmprof::report
