#include <fmt/format.h>

#include <algorithm>

#include "report/numbers.h"
#include "report/sections/sections.h"

namespace llmprof::report {
namespace {

constexpr size_t kShownLayers = 5;
constexpr size_t kShownClasses = 3;

std::string largest_classes(const analysis::LayerRow& row) {
  std::vector<size_t> classes;
  for (size_t c = 0; c < analysis::kKernelClasses; ++c) {
    if (row.by_class[c] > 0) classes.push_back(c);
  }
  std::stable_sort(classes.begin(), classes.end(),
                   [&](size_t a, size_t b) { return row.by_class[a] > row.by_class[b]; });
  classes.resize(std::min(classes.size(), kShownClasses));
  std::string text;
  for (const size_t c : classes) {
    if (!text.empty()) text += ", ";
    text +=
        fmt::format("{} {}", analysis::all_classes()[c], fine_ms(per_pass(row, row.by_class[c])));
  }
  return text;
}

// Layers are mostly alike: the slowest say what there is to say.
std::vector<const analysis::LayerRow*> slowest_layers(const std::vector<analysis::LayerRow>& rows,
                                                      const LayerSummary& of) {
  std::vector<const analysis::LayerRow*> chosen;
  for (const analysis::LayerRow& row : rows) {
    if (row.stage == of.stage && row.model == of.model && !row.part) chosen.push_back(&row);
  }
  std::stable_sort(chosen.begin(), chosen.end(),
                   [](const analysis::LayerRow* a, const analysis::LayerRow* b) {
                     return a->kernel_sum > b->kernel_sum;
                   });
  chosen.resize(std::min(chosen.size(), kShownLayers));
  return chosen;
}

Table layer_table(const std::vector<const analysis::LayerRow*>& rows) {
  Table table;
  table.columns = {text_column("layer"), number_column("kernel time (ms a pass)"),
                   number_column("kernels a pass"), text_column("largest classes (ms a pass)")};
  const bool noted = std::any_of(rows.begin(), rows.end(),
                                 [](const analysis::LayerRow* row) { return !row->note.empty(); });
  if (noted) table.columns.push_back(text_column("unlike the others"));
  for (const analysis::LayerRow* row : rows) {
    const double passes = static_cast<double>(std::max<uint64_t>(row->passes, 1));
    table.rows.push_back({row->name, fine_ms(per_pass(*row, row->kernel_sum)),
                          plain(static_cast<double>(row->kernel_count) / passes),
                          largest_classes(*row)});
    if (noted) table.rows.back().push_back(row->note);
  }
  return table;
}

Table part_table(const LayerSummary& summary) {
  Table table;
  table.columns = {text_column("part of all layers"), number_column("kernel time (ms a pass)"),
                   number_column("share of kernel time")};
  for (const LayerSummary::Part& part : summary.parts) {
    table.rows.push_back({part.name, fine_ms(part.time), percent(part.share)});
  }
  return table;
}

}  // namespace

void add_layers(const Reported& reported, Document& document) {
  const analysis::Layers& layers = reported.profile.layers;
  document.add(Heading{2, "Layers"});
  if (reported.facts.layers.empty()) {
    document.add(Paragraph{layers.reason.empty()
                               ? "No layers were found; NVTX ranges named layer_00, layer_01, ... "
                                 "around each layer, or "
                                 "a kernel sequence that repeats with the layers, show them."
                               : sentence(layers.reason)});
    return;
  }
  for (const LayerSummary& summary : reported.facts.layers) {
    const std::string& name = reported.stages[summary.stage].name;
    document.add(Heading{
        3, summary.model == 0
               ? "Layers in " + name
               : fmt::format("Layers in {}, model of {} attention layers", name, summary.model)});
    document.add(Paragraph{fmt::format(
        "{}{}, {} ms of kernel time a pass each on average ({} to {} ms). The longest:",
        counted(summary.layers, "layer"),
        summary.model == 0 ? "" : fmt::format(" in {}", counted(summary.passes, "pass", "passes")),
        fine_ms(summary.mean), fine_ms(summary.min), fine_ms(summary.max))});
    document.add(layer_table(slowest_layers(layers.rows, summary)));
    if (summary.parts.size() > 1) document.add(part_table(summary));
  }
  if (!layers.reason.empty()) document.add(Paragraph{sentence(layers.reason)});
}

}  // namespace llmprof::report
