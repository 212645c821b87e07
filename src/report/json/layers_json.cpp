#include <algorithm>

#include "report/json/json_sections.h"

namespace llmprof::report {
namespace {

Json known_or_null(uint32_t layers) { return layers == 0 ? Json() : Json(layers); }

}  // namespace

Json layers_json(const analysis::Profile& profile) {
  Json rows = Json::array();
  for (const analysis::LayerRow& row : profile.layers.rows) {
    Json classes = Json::object();
    for (size_t c = 0; c < analysis::kKernelClasses; ++c) {
      if (row.by_class[c] == 0) continue;
      classes[std::string(analysis::all_classes()[c])] =
          milliseconds(per_pass(row, row.by_class[c]));
    }
    rows.push_back(
        {{"name", to_printable(row.name)},
         {"stage", to_printable(profile.stages.stages[row.stage].name)},
         {"model_layers", known_or_null(row.model)},
         {"part", row.part},
         {"source", analysis::to_string(row.source)},
         {"ms_per_step", milliseconds(per_pass(row, row.kernel_sum))},
         {"kernels_per_step", static_cast<double>(row.kernel_count) /
                                  static_cast<double>(std::max<uint64_t>(row.passes, 1))},
         {"passes", row.passes},
         {"total_ns", row.kernel_sum},
         {"classes", std::move(classes)},
         {"note", text_or_null(row.note)}});
  }
  return rows;
}

Json layer_summary_json(const analysis::Profile& profile, const Facts& facts) {
  Json rows = Json::array();
  for (const LayerSummary& summary : facts.layers) {
    Json parts = Json::array();
    for (const LayerSummary::Part& part : summary.parts) {
      parts.push_back({{"name", to_printable(part.name)},
                       {"ms_per_step", milliseconds(part.time)},
                       {"share_of_kernel_time", part.share}});
    }
    rows.push_back({{"stage", to_printable(profile.stages.stages[summary.stage].name)},
                    {"model_layers", known_or_null(summary.model)},
                    {"passes", summary.passes},
                    {"layers", summary.layers},
                    {"mean_ms_per_step", milliseconds(summary.mean)},
                    {"min_ms_per_step", milliseconds(summary.min)},
                    {"max_ms_per_step", milliseconds(summary.max)},
                    {"parts", std::move(parts)}});
  }
  return {{"why_not", text_or_null(profile.layers.reason)}, {"stages", std::move(rows)}};
}

}  // namespace llmprof::report
