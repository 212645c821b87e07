#include <algorithm>
#include <map>
#include <span>

#include "analysis/layers/layers.h"
#include "analysis/statistics/statistics.h"

namespace llmprof::analysis {
namespace {

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
        {std::string(name), to_milliseconds(time), share(time, all).value_or(profile::Share{})});
  }
  return parts;
}

// The layers of one stage and model; times in ns per pass.
std::optional<profile::StageLayers> summary(std::span<const profile::Layer> layers) {
  std::map<std::string_view, double> parts;
  double all = 0;
  double in_layers = 0;
  double in_parts = 0;
  double shortest = 0;
  double longest = 0;
  profile::StageLayers row;
  for (const profile::Layer& layer : layers) {
    const double time =
        as_double(layer.total_ns.value) / static_cast<double>(std::max<uint64_t>(layer.passes, 1));
    if (!layer.part && !layer.outside) {
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
  row.stage = layers.front().stage;
  row.model_layers = layers.front().model_layers;
  row.mean_per_step = to_milliseconds(in_layers / static_cast<double>(row.layers));
  row.min_per_step = to_milliseconds(shortest);
  row.max_per_step = to_milliseconds(longest);
  row.parts = parts_of(parts, all);
  return row;
}

}  // namespace

profile::LayerSummary layer_summary(const Layers& layers) {
  profile::LayerSummary summaries;
  summaries.why_not_reasons = layers.reason;
  const auto& rows = layers.rows;
  for (auto begin = rows.begin(); begin != rows.end();) {
    const auto end = std::find_if(begin, rows.end(), [&](const profile::Layer& row) {
      return row.stage != begin->stage || row.model_layers != begin->model_layers;
    });
    if (auto row = summary(std::span(begin, end))) summaries.stages.push_back(std::move(*row));
    begin = end;
  }
  return summaries;
}

}  // namespace llmprof::analysis
