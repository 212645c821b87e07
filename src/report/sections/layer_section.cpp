#include <fmt/format.h>

#include <algorithm>

#include "report/format/figures.h"
#include "report/format/part_names.h"
#include "report/format/sentences.h"
#include "report/sections/reasons.h"
#include "report/sections/sections.h"

namespace llmprof::report {
namespace {

constexpr size_t kShownLayers = 5;
constexpr size_t kShownClasses = 3;

std::string largest_classes(const profile::Layer& layer) {
  auto classes = layer.classes;
  std::stable_sort(classes.begin(), classes.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  classes.resize(std::min(classes.size(), kShownClasses));
  std::string text;
  for (const auto& [name, time] : classes) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", shown_name(name), fine_ms(time));
  }
  return text;
}

// Layers are mostly alike: the slowest say what there is to say.
std::vector<const profile::Layer*> slowest_layers(const std::vector<profile::Layer>& layers,
                                                  const profile::StageLayers& of) {
  std::vector<const profile::Layer*> chosen;
  for (const profile::Layer& layer : layers) {
    if (layer.stage == of.stage && layer.model_layers == of.model_layers && !layer.part) {
      chosen.push_back(&layer);
    }
  }
  std::stable_sort(
      chosen.begin(), chosen.end(),
      [](const profile::Layer* a, const profile::Layer* b) { return a->total_ns > b->total_ns; });
  chosen.resize(std::min(chosen.size(), kShownLayers));
  return chosen;
}

Table layer_table(const std::vector<const profile::Layer*>& layers) {
  Table table{columns(
      "layer | #kernel time (ms per pass) | #kernels per pass | largest classes (ms per pass)")};
  const bool noted = std::any_of(layers.begin(), layers.end(), [](const profile::Layer* layer) {
    return layer->note.has_value();
  });
  if (noted) table.columns.push_back(text_column("unlike the others"));
  for (const profile::Layer* layer : layers) {
    table.rows.push_back({layer->name, fine_ms(layer->per_step), plain(layer->kernels_per_step),
                          largest_classes(*layer)});
    if (noted) table.rows.back().emplace_back(layer->note.value_or(""));
  }
  return table;
}

Table part_table(const profile::StageLayers& stage) {
  Table table{columns("part of the stage | #kernel time (ms per pass) | #share of kernel time")};
  for (const profile::LayerPart& part : stage.parts) {
    table.rows.push_back({part.name, fine_ms(part.per_step), percent(part.share_of_kernel_time)});
  }
  return table;
}

void add_stage_layers(const profile::Profile& profile, const profile::StageLayers& stage,
                      Document& document) {
  std::string title = "Layers in " + stage.stage;
  std::string passes;
  if (stage.model_layers) {
    title += fmt::format(", model of {} attention layers", *stage.model_layers);
    passes = " in " + counted(stage.passes, "pass");
  }
  document.add(Heading{3, std::move(title)});
  document.add(Paragraph{fmt::format(
      "{}{}, each with {} ms of kernel time per pass on average ({} to {} ms). The longest:",
      counted(stage.layers, "layer"), passes, fine_ms(stage.mean_per_step),
      fine_ms(stage.min_per_step), fine_ms(stage.max_per_step))});
  document.add(layer_table(slowest_layers(profile.layers, stage)));
  if (stage.parts.size() > 1) document.add(part_table(stage));
}

}  // namespace

void add_section(Topic<"layers"> /*topic*/, const Profile& profile, Document& document) {
  document.add(Heading{2, "Layers"});
  if (profile.job) {
    document.add(Paragraph{std::string(kToldOfSingleRanks)});
    return;
  }
  if (profile.layer_summary.stages.empty()) {
    document.add(Paragraph{"Not known: " + why_no_layers(profile)});
    return;
  }
  for (const profile::StageLayers& stage : profile.layer_summary.stages) {
    add_stage_layers(profile, stage, document);
  }
  if (const auto& why = profile.layer_summary.why_not) document.add(Paragraph{sentence(*why)});
}

}  // namespace llmprof::report
