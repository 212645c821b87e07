#include "report/json/json_sections.h"

namespace llmprof {

Json recoverable_json(const Profile& profile) {
  Json rows = Json::array();
  for (const StageRecoverable& stage : profile.recoverable) {
    Json parts = Json::array();
    for (const RecoverablePart& part : stage.parts) {
      Json per_token = nullptr;
      if (stage.tokens > 0) per_token = milliseconds(part.recoverable() / stage.tokens);
      parts.push_back({{"part", budget_part_name(part.part)},
                       {"ms", milliseconds(part.time)},
                       {"floor_ms", milliseconds(part.floor)},
                       {"floor_rule", text_or_null(part.floor_rule)},
                       {"recoverable_ms", milliseconds(part.recoverable())},
                       {"recoverable_ms_per_token", std::move(per_token)}});
    }
    rows.push_back({{"stage", to_printable(profile.stages.stages[stage.stage].name)},
                    {"wall_ms", milliseconds(stage.wall)},
                    {"bound_ms", milliseconds(stage.bound)},
                    {"tokens", number_or_null(stage.tokens)},
                    {"parts", std::move(parts)}});
  }
  return rows;
}

Json findings_json(const Profile& profile) {
  Json rows = Json::array();
  for (const Finding& finding : profile.findings) {
    rows.push_back({{"title", to_printable(finding.title)},
                    {"evidence", to_printable(finding.evidence)},
                    {"recoverable_ms", milliseconds(finding.recoverable)},
                    {"advice", to_printable(finding.advice)},
                    {"stage", text_or_null(finding.stage)},
                    {"recoverable_ms_per_token", milliseconds(finding.per_token)},
                    {"share_of_wall", finding.share_of_wall}});
  }
  return rows;
}

}  // namespace llmprof
