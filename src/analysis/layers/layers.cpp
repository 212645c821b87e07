#include "analysis/layers/layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "analysis/layers/pass_layers.h"
#include "analysis/stages/thresholds.h"
#include "analysis/statistics/statistics.h"
#include "base/quantiles.h"
#include "base/text.h"

namespace llmprof::analysis {
namespace {

// Kernel time of one layer, or of a part of it, over all instances of a stage that are not warm-up.
struct LayerSum {
  uint64_t kernel_count = 0;
  Nanoseconds kernel_sum = 0;
  std::array<Nanoseconds, kKernelClasses> by_class{};

  [[nodiscard]] profile::Layer row(std::string_view name, uint64_t passes) const {
    const auto each = static_cast<double>(std::max<uint64_t>(passes, 1));
    profile::Layer row;
    row.name = to_printable(name);
    row.per_step = to_milliseconds(as_double(kernel_sum) / each);
    row.kernels_per_step = static_cast<double>(kernel_count) / each;
    row.passes = passes;
    row.total_ns = {kernel_sum};
    for (size_t i = 0; i < by_class.size(); ++i) {
      if (by_class[i] == 0) continue;
      row.classes.emplace_back(static_cast<KernelClass>(i),
                               to_milliseconds(as_double(by_class[i]) / each));
    }
    return row;
  }
};

// Adds a kernel's duration to a sum, by class.
class KernelTimes {
 public:
  KernelTimes(const trace::Trace& trace, const DescribedNames& names)
      : trace_(trace), names_(names) {}
  void add(size_t kernel, LayerSum& sum) const {
    const Nanoseconds duration = trace_.kernels.end[kernel] - trace_.kernels.start[kernel];
    ++sum.kernel_count;
    sum.kernel_sum += duration;
    sum.by_class[static_cast<size_t>(names_[trace_.kernels.name[kernel]].kernel_class)] += duration;
  }

 private:
  const trace::Trace& trace_;
  const DescribedNames& names_;
};

// Finds layers as repeats in each pass's kernel names. If several models ran, only in passes of
// `model`.
KernelsByLayer repeated_layers(PassLayers& passes, uint32_t stage,
                               std::optional<uint32_t> model = std::nullopt) {
  // The passes with each number of layers, and their cuts.
  std::map<size_t, std::vector<std::pair<size_t, const std::vector<size_t>*>>> by_layers;
  for (size_t pass = 0; pass < passes.size(); ++pass) {
    if (passes.stage(pass) != stage || (model && passes.model(pass) != *model)) continue;
    const std::vector<size_t>& cuts = passes.cuts(pass);
    if (!cuts.empty()) by_layers[cuts.size() - 1].emplace_back(pass, &cuts);
  }
  KernelsByLayer found;
  found.source = StageSource::detected;
  if (by_layers.empty()) return found;
  const auto& [layers, most] = *std::ranges::max_element(
      by_layers, {}, [](const auto& entry) { return entry.second.size(); });
  for (size_t i = 0; i < layers; ++i) found.labels.push_back({fmt::format("layer_{:02}", i), {}});
  found.passes = most.size();
  for (const auto& [pass, cuts] : most) {
    for (uint32_t layer = 0; layer < layers; ++layer) {
      for (size_t i = (*cuts)[layer]; i < (*cuts)[layer + 1]; ++i) {
        found.kernels.push_back({passes.kernels(pass)[i], layer});
      }
    }
  }
  return found;
}

// Totals of a stage's kernels and passes.
struct StageWhole {
  LayerSum sum;
  uint64_t passes = 0;
  bool undivided = false;
  Nanoseconds hidden = 0;
};

std::vector<StageWhole> wholes_of(const trace::Trace& trace, const Stages& stages,
                                  const PassLayers& passes, const KernelTimes& times) {
  std::vector<StageWhole> wholes(stages.stages.size());
  for (size_t i = 0; i < passes.size(); ++i) {
    StageWhole& whole = wholes[passes.stage(i)];
    ++whole.passes;
    whole.undivided = whole.undivided || passes.undivided(i);
  }
  for (const StageInstance& instance : stages.instances) {
    if (!instance.warmup) wholes[instance.stage].hidden += instance.work.hidden_graph_sum;
  }
  if (stages.instances.empty()) return wholes;
  for (size_t i = 0; i < trace.kernels.size(); ++i) {
    const InstanceId owner = stages.owners.kernel_instance[i];
    if (!owner.valid() || stages.instances[owner.index()].warmup) continue;
    times.add(i, wholes[stages.instances[owner.index()].stage].sum);
  }
  return wholes;
}

// Numeric: "layer_9" before "layer_10".
struct LayerOrder {
  bool operator()(const std::string& a, const std::string& b) const {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  }
};

struct SummedLayer {
  LayerSum sum;
  std::vector<std::pair<std::string, LayerSum>> parts;  // in order of first occurrence
  LayerRowId row;

  size_t part(const std::string& name) {
    const auto known = std::ranges::find(parts, name, [](const auto& part) { return part.first; });
    const auto place = static_cast<size_t>(known - parts.begin());
    if (known == parts.end()) parts.emplace_back(name, LayerSum());
    return place;
  }
};
using SummedLayers = std::map<std::string, SummedLayer, LayerOrder>;

// Notes a layer whose kernels per pass differ from most others of the stage.
profile::Reasons note_if_unlike(const LayerSum& layer, uint64_t median, uint64_t passes) {
  const auto apart = std::max(layer.kernel_count, median) - std::min(layer.kernel_count, median);
  if (threshold::kSeldom * apart <= median) return {};
  const auto a_pass = [&](uint64_t count) {
    return static_cast<double>(count) / static_cast<double>(std::max<uint64_t>(passes, 1));
  };
  FindingValues values;
  values.add("kernels_per_pass", a_pass(layer.kernel_count))
      .add("median_kernels_per_pass", a_pass(median));
  return {make_reason(ReasonKind::unlike_median_layer, values)};
}

// Also sets the row of each kernel that the layers count.
void add_rows(const KernelsByLayer& found, const Stage& stage, uint32_t model,
              const StageWhole& whole, const KernelTimes& times, Layers& layers) {
  SummedLayers by_name;
  std::vector<std::pair<SummedLayer*, size_t>> of_label;  // the layer and its part
  for (const KernelsByLayer::Label& label : found.labels) {
    SummedLayer& layer = by_name[label.layer];
    of_label.emplace_back(&layer, label.part.empty() ? SIZE_MAX : layer.part(label.part));
  }
  LayerSum outside = whole.sum;
  for (const auto& [kernel, label] : found.kernels) {
    const auto [layer, part] = of_label[label];
    times.add(kernel, layer->sum);
    if (part != SIZE_MAX) times.add(kernel, layer->parts[part].second);
  }
  std::vector<uint64_t> counts;
  for (const auto& [name, layer] : by_name) counts.push_back(layer.sum.kernel_count);
  const uint64_t usual = median(std::span(counts));
  const auto push = [&](profile::Layer row) -> profile::Layer& {
    row.stage = to_printable(stage.name);
    row.model_layers = unless_zero<uint64_t>(model);
    row.source = found.source;
    return layers.rows.emplace_back(std::move(row));
  };
  for (auto& [name, layer] : by_name) {
    layer.row = LayerRowId(layers.rows.size());
    push(layer.sum.row(name, found.passes)).note_reasons =
        note_if_unlike(layer.sum, usual, found.passes);
    for (const auto& [part, sum] : layer.parts) {
      push(sum.row(fmt::format("{}/{}", name, part), found.passes)).part = true;
    }
    outside.kernel_count -= layer.sum.kernel_count;
    outside.kernel_sum -= layer.sum.kernel_sum;
    for (size_t i = 0; i < outside.by_class.size(); ++i) {
      outside.by_class[i] -= layer.sum.by_class[i];
    }
  }
  push(outside.row(kOutsideLayers, whole.passes)).outside = true;
  for (const auto& [kernel, label] : found.kernels) {
    layers.of_kernel[kernel] = of_label[label].first->row;
  }
}

ReasonKind why_none(const StageWhole& whole) {
  if (whole.hidden > whole.sum.kernel_sum) return ReasonKind::layers_in_hidden_graphs;
  if (whole.sum.kernel_count == 0) return ReasonKind::stage_without_kernels;
  if (whole.undivided) return ReasonKind::layer_steps_unknown;
  return ReasonKind::layers_not_repeating;
}

// `model` is set if several ran: the number of attention layers of this one.
void add_reason(const Stage& stage, const StageWhole& whole, std::optional<uint32_t> model,
                Layers& layers) {
  FindingValues values;
  values.add("stage", stage.name);
  if (model) values.add("model_layers", *model);
  layers.reason.push_back(make_reason(why_none(whole), values));
}

// Totals per model. Passes of an unknown model form their own group.
std::map<uint32_t, StageWhole> models_of(const PassLayers& passes, uint32_t stage,
                                         const KernelTimes& times) {
  std::map<uint32_t, StageWhole> models;
  for (size_t pass = 0; pass < passes.size(); ++pass) {
    if (passes.stage(pass) != stage) continue;
    StageWhole& whole = models[passes.model(pass)];
    ++whole.passes;
    for (const uint32_t kernel : passes.kernels(pass)) times.add(kernel, whole.sum);
  }
  return models;
}

}  // namespace

Layers find_layers(const trace::Trace& trace, const Stages& stages, const MeaningfulRanges* ranges,
                   const DescribedNames& names) {
  Layers layers;
  const KernelTimes times(trace, names);
  PassLayers passes(trace, stages, names);
  const auto wholes = wholes_of(trace, stages, passes, times);
  std::vector<KernelsByLayer> of_ranges(stages.stages.size());
  if (ranges != nullptr) of_ranges = layers_of_ranges(trace, stages, *ranges);
  for (uint32_t stage = 0; stage < stages.stages.size(); ++stage) {
    const auto add = [&](const KernelsByLayer& found, const StageWhole& whole,
                         std::optional<uint32_t> model = std::nullopt) {
      if (found.kernels.empty()) {
        add_reason(stages.stages[stage], whole, model, layers);
        return;
      }
      layers.of_kernel.resize(trace.kernels.size());
      add_rows(found, stages.stages[stage], model.value_or(0), whole, times, layers);
    };
    const StageWhole& whole = wholes[stage];
    KernelsByLayer& found = of_ranges[stage];
    // A few launches inside layer ranges (a captured graph's odd kernel) do not make layers.
    if (!found.kernels.empty() && found.kernels.size() * 2 >= whole.sum.kernel_count) {
      // A decode without known steps passes through a layer as often as its range was opened.
      if (!whole.undivided || found.passes == 0) found.passes = whole.passes;
      add(found, whole);
    } else if (const auto models = models_of(passes, stage, times); models.size() > 1) {
      for (const auto& [model, own] : models)
        add(repeated_layers(passes, stage, model), own, model);
    } else {
      add(repeated_layers(passes, stage), whole);
    }
  }
  return layers;
}

}  // namespace llmprof::analysis
