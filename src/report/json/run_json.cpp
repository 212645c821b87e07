#include "report/json/json_sections.h"

namespace llmprof::report {

namespace {

Json windows_json(const analysis::CollectorOverhead::Windows& windows) {
  const bool known = windows.windows > 0;
  return {
      {"windows", windows.windows},
      {"steps", windows.steps},
      {"mean_ms_per_step", known ? milliseconds(windows.mean) : Json(nullptr)},
      {"std_ms_per_step", windows.windows > 1 ? milliseconds(windows.deviation) : Json(nullptr)}};
}

// Null without a duty cycle.
Json collector_json(const std::optional<analysis::CollectorOverhead>& measured) {
  if (!measured) return nullptr;
  const auto& added = measured->added;
  return {{"added_ms_per_step", added ? milliseconds(added->mean) : Json(nullptr)},
          {"low_ms_per_step", added ? milliseconds(added->low) : Json(nullptr)},
          {"high_ms_per_step", added ? milliseconds(added->high) : Json(nullptr)},
          {"interval_confidence", analysis::kIntervalConfidence},
          {"share_of_untraced_step", value_or_null(measured->share_of_step)},
          {"share_of_decode", value_or_null(measured->share_of_decode)},
          {"traced", windows_json(measured->traced)},
          {"untraced", windows_json(measured->untraced)},
          {"gap_ms", milliseconds(measured->gap)},
          {"steps_traced", measured->steps_traced},
          {"steps_cupti_on", measured->steps_cupti_on},
          {"steps_all", measured->steps_all},
          {"duty_traced", number_or_null(measured->duty_traced)},
          {"duty_period", number_or_null(measured->duty_period)},
          {"switches", measured->switches},
          {"switch_cost_ms", milliseconds(measured->switch_cost)},
          {"why_not", text_or_null(measured->why_not)}};
}

}  // namespace

Json overhead_json(const analysis::Profile& profile) {
  if (profile.overhead.empty() && !profile.collector_overhead) return nullptr;
  Json rows = Json::array();
  for (const analysis::OverheadRow& row : profile.overhead) {
    rows.push_back({{"pass", row.pass},
                    {"stage", to_printable(row.stage)},
                    {"control_ms", row.control_ms},
                    {"profiled_ms", row.profiled_ms},
                    {"ratio", row.ratio()},
                    {"whole_run", row.whole_run}});
  }
  return {{"passes", std::move(rows)},
          {"warn_above_share", analysis::kMuchOverhead},
          {"collector", collector_json(profile.collector_overhead)}};
}

Json captures_failed_json(const analysis::Profile& profile) {
  Json rows = Json::array();
  for (const analysis::CaptureFailure& failure : profile.captures_failed) {
    rows.push_back({{"backend", failure.backend}, {"message", to_printable(failure.message)}});
  }
  return rows;
}

}  // namespace llmprof::report
