#include "report/json/json_sections.h"

namespace llmprof {

Json overhead_json(const Profile& profile) {
  if (profile.overhead.empty()) return nullptr;
  Json rows = Json::array();
  for (const OverheadRow& row : profile.overhead) {
    rows.push_back({{"pass", row.pass},
                    {"stage", to_printable(row.stage)},
                    {"control_ms", row.control_ms},
                    {"profiled_ms", row.profiled_ms},
                    {"ratio", row.ratio()},
                    {"whole_run", row.whole_run}});
  }
  return {{"passes", std::move(rows)}, {"warn_above_share", kMuchOverhead}};
}

Json captures_failed_json(const Profile& profile) {
  Json rows = Json::array();
  for (const CaptureFailure& failure : profile.captures_failed) {
    rows.push_back({{"backend", failure.backend}, {"message", to_printable(failure.message)}});
  }
  return rows;
}

}  // namespace llmprof
