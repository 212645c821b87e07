#include <algorithm>
#include <map>
#include <set>

#include "analysis/result/parts.h"
#include "analysis/statistics/statistics.h"

namespace llmprof::analysis::result {
namespace {

// "outside layers" is a separate row next to the layers.
bool is_outside(const LayerRow& row) { return row.name == kOutsideLayers; }
bool is_layer(const LayerRow& row) { return !row.part && !is_outside(row); }

double per_pass(const LayerRow& row, Nanoseconds time) {
  return static_cast<double>(time) / static_cast<double>(std::max<uint64_t>(row.passes, 1));
}

std::string_view part_of_layer(std::string_view name) {
  const size_t slash = name.find('/');
  return slash == std::string_view::npos ? name : name.substr(slash + 1);
}

std::vector<profile::LayerPart> parts_of(const std::map<std::string_view, double>& times,
                                         double all) {
  std::vector<std::pair<std::string_view, double>> sorted(times.begin(), times.end());
  std::ranges::stable_sort(sorted,
                           [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<profile::LayerPart> parts;
  parts.reserve(sorted.size());
  for (const auto& [name, time] : sorted) {
    parts.push_back(
        {to_printable(name), to_milliseconds(time), share(time, all).value_or(profile::Share{})});
  }
  return parts;
}

std::optional<profile::StageLayers> summary(const Stages& stages, const Layers& layers,
                                            uint32_t stage, uint32_t model) {
  std::map<std::string_view, double> parts;
  double all = 0;
  double in_layers = 0;
  double in_parts = 0;
  double shortest = 0;
  double longest = 0;
  profile::StageLayers row;
  for (const LayerRow& layer : layers.rows) {
    if (layer.stage != stage || layer.model != model) continue;
    const double time = per_pass(layer, layer.kernel_sum);
    if (is_layer(layer)) {
      row.passes = layer.passes;
      shortest = row.layers == 0 ? time : std::min(shortest, time);
      longest = std::max(longest, time);
      ++row.layers;
      in_layers += time;
    } else {
      parts[part_of_layer(layer.name)] += time;
      if (layer.part) in_parts += time;
    }
    if (!layer.part) all += time;
  }
  if (row.layers == 0) return std::nullopt;
  if (in_layers > in_parts) {
    parts[in_parts > 0 ? "layers, outside of their parts" : "layers"] = in_layers - in_parts;
  }
  row.stage = to_printable(stages.stages[stage].name);
  row.model_layers = unless_zero<uint64_t>(model);
  row.mean_per_step = to_milliseconds(in_layers / static_cast<double>(row.layers));
  row.min_per_step = to_milliseconds(shortest);
  row.max_per_step = to_milliseconds(longest);
  row.parts = parts_of(parts, all);
  return row;
}

std::vector<profile::Layer> layer_rows(const Stages& stages, const Layers& found) {
  std::vector<profile::Layer> rows;
  for (const LayerRow& from : found.rows) {
    profile::Layer& row = rows.emplace_back();
    row.name = to_printable(from.name);
    row.stage = to_printable(stages.stages[from.stage].name);
    row.model_layers = unless_zero<uint64_t>(from.model);
    row.part = from.part;
    row.outside = is_outside(from);
    row.source = from.source;
    row.per_step = to_milliseconds(per_pass(from, from.kernel_sum));
    row.kernels_per_step = static_cast<double>(from.kernel_count) /
                           static_cast<double>(std::max<uint64_t>(from.passes, 1));
    row.passes = from.passes;
    row.total_ns = {from.kernel_sum};
    for (size_t c = 0; c < kKernelClasses; ++c) {
      if (from.by_class[c] == 0) continue;
      row.classes.emplace_back(static_cast<KernelClass>(c),
                               to_milliseconds(per_pass(from, from.by_class[c])));
    }
    row.note_reasons = from.note;
  }
  return rows;
}

profile::LayerSummary layer_summary(const Stages& stages, const Layers& layers) {
  profile::LayerSummary summaries;
  summaries.why_not_reasons = layers.reason;
  std::set<std::pair<uint32_t, uint32_t>> stages_and_models;
  for (const LayerRow& row : layers.rows) stages_and_models.emplace(row.stage, row.model);
  for (const auto& [stage, model] : stages_and_models) {
    if (auto row = summary(stages, layers, stage, model))
      summaries.stages.push_back(std::move(*row));
  }
  return summaries;
}

}  // namespace

std::tuple<std::vector<profile::Layer>, profile::LayerSummary> layers(const Stages& stages,
                                                                      const Layers& found) {
  return {layer_rows(stages, found), layer_summary(stages, found)};
}

}  // namespace llmprof::analysis::result
