#include "analysis/layers/layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "analysis/layers/layer_cuts.h"
#include "analysis/layers/pass_kernels.h"
#include "analysis/layers/stage_layers.h"
#include "base/quantiles.h"

namespace llmprof::analysis {
namespace {

using profile::FindingValues;
using profile::make_reason;
using profile::ReasonKind;

constexpr std::string_view kOutside = "outside layers";

// Finds layers as repeats in each pass's kernel names.
class RepeatedLayers {
 public:
  RepeatedLayers(const trace::Trace& trace, const DescribedNames& names, const PassKernels& passes,
                 const KernelTimes& times)
      : passes_(passes), times_(times), cuts_(trace, names) {}

  // If several models ran, only passes of `model`.
  StageLayers run(uint32_t stage, std::optional<uint32_t> model = std::nullopt) {
    std::vector<std::pair<size_t, const std::vector<size_t>*>> cut;  // pass, its cuts
    std::map<size_t, size_t> passes_by_count;
    for (size_t pass = 0; pass < passes_.size(); ++pass) {
      if (passes_.stage(pass) != stage || passes_.undivided(pass)) continue;
      if (model && passes_.model(pass) != *model) continue;
      const std::vector<size_t>& cuts = cuts_.of(passes_.kernels(pass));
      if (cuts.empty()) continue;
      cut.emplace_back(pass, &cuts);
      ++passes_by_count[cuts.size() - 1];
    }
    StageLayers found;
    found.source = StageSource::detected;
    if (cut.empty()) return found;
    const size_t layers = std::ranges::max_element(passes_by_count, {}, [](const auto& known) {
                            return known.second;
                          })->first;
    std::vector<LayerSum> sums(layers);
    for (const auto& [pass, cuts] : cut) {
      if (cuts->size() - 1 != layers) continue;
      ++found.passes;
      const auto kernels = passes_.kernels(pass);
      for (size_t layer = 0; layer < layers; ++layer) {
        for (size_t i = (*cuts)[layer]; i < (*cuts)[layer + 1]; ++i) {
          times_.add(kernels[i], sums[layer]);
          found.kernels.push_back({kernels[i], static_cast<uint32_t>(layer)});
        }
      }
    }
    for (size_t i = 0; i < layers; ++i) {
      found.labels.push_back(fmt::format("layer_{:02}", i));
      found.layers[found.labels.back()].sum = sums[i];
      found.layered_kernels += sums[i].kernel_count;
    }
    return found;
  }

 private:
  const PassKernels& passes_;
  const KernelTimes& times_;
  PassLayerCuts cuts_;
};

// Totals of a stage's kernels and passes.
struct StageWhole {
  LayerSum sum;
  uint64_t passes = 0;
  bool undivided = false;
  Nanoseconds hidden = 0;
};

std::vector<StageWhole> wholes_of(const trace::Trace& trace, const Stages& stages,
                                  const PassKernels& passes, const KernelTimes& times) {
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

// Notes layers whose kernels per pass differ from most others of the stage.
class UnlikeMost {
 public:
  explicit UnlikeMost(const StageLayers& found) : passes_(std::max<uint64_t>(found.passes, 1)) {
    std::vector<uint64_t> counts;
    counts.reserve(found.layers.size());
    for (const auto& [name, layer] : found.layers) counts.push_back(layer.sum.kernel_count);
    if (!counts.empty()) median_ = upper_median(counts);
  }
  [[nodiscard]] profile::Reasons note(const LayerSum& sum) const {
    const auto apart = std::max(sum.kernel_count, median_) - std::min(sum.kernel_count, median_);
    if (kUnlikePart * apart <= median_) return {};
    const auto a_pass = [&](uint64_t count) {
      return static_cast<double>(count) / static_cast<double>(passes_);
    };
    FindingValues values;
    values.add("kernels_per_pass", a_pass(sum.kernel_count))
        .add("median_kernels_per_pass", a_pass(median_));
    return {make_reason(ReasonKind::unlike_median_layer, values)};
  }

 private:
  static constexpr uint64_t kUnlikePart = 10;  // a tenth of the median's kernels
  uint64_t passes_;
  uint64_t median_ = 0;
};

// Also sets the row of each kernel that the layers count.
void add_rows(const StageLayers& found, uint32_t stage, uint32_t model, const StageWhole& whole,
              size_t kernels, Layers& layers) {
  const size_t first = layers.rows.size();
  LayerSum outside = whole.sum;
  const UnlikeMost unlike(found);
  const auto push = [&](std::string name, const LayerSum& sum, bool part, uint64_t passes) {
    profile::Reasons note = part || name == kOutside ? profile::Reasons() : unlike.note(sum);
    layers.rows.push_back(
        {sum, std::move(name), stage, model, part, found.source, passes, std::move(note)});
  };
  for (const auto& [name, layer] : found.layers) {
    push(name, layer.sum, false, found.passes);
    for (const auto& [part, sum] : layer.parts) {
      push(fmt::format("{}/{}", name, part), sum, true, found.passes);
    }
    outside.kernel_count -= layer.sum.kernel_count;
    outside.kernel_sum -= layer.sum.kernel_sum;
    for (size_t i = 0; i < outside.by_class.size(); ++i) {
      outside.by_class[i] -= layer.sum.by_class[i];
    }
  }
  push(std::string(kOutside), outside, false, whole.passes);
  layers.of_kernel.resize(kernels);
  std::vector<LayerRowId> row_of_label(found.labels.size());
  for (size_t label = 0; label < found.labels.size(); ++label) {
    for (size_t row = first; row < layers.rows.size(); ++row) {
      const LayerRow& layer = layers.rows[row];
      if (!layer.part && layer.name == found.labels[label]) row_of_label[label] = LayerRowId(row);
    }
  }
  for (const auto& [kernel, label] : found.kernels) layers.of_kernel[kernel] = row_of_label[label];
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
std::map<uint32_t, StageWhole> models_of(const PassKernels& passes, uint32_t stage,
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

void add_models(const std::map<uint32_t, StageWhole>& models, const Stage& stage, uint32_t row,
                RepeatedLayers& repeated, size_t kernels, Layers& layers) {
  for (const auto& [model, whole] : models) {
    const StageLayers found = repeated.run(row, model);
    if (found.layers.empty()) {
      add_reason(stage, whole, model, layers);
    } else {
      add_rows(found, row, model, whole, kernels, layers);
    }
  }
}

}  // namespace

Layers find_layers(const trace::Trace& trace, const Stages& stages, const MeaningfulRanges* ranges,
                   const DescribedNames& names) {
  Layers layers;
  const KernelTimes times(trace, names);
  const PassKernels passes(trace, stages);
  const auto wholes = wholes_of(trace, stages, passes, times);
  std::vector<StageLayers> found(stages.stages.size());
  if (ranges != nullptr) found = layers_of_ranges(trace, stages, *ranges, times);
  RepeatedLayers repeated(trace, names, passes, times);
  for (uint32_t stage = 0; stage < stages.stages.size(); ++stage) {
    const StageWhole& whole = wholes[stage];
    // A few launches inside layer ranges (a captured graph's odd kernel) do not make layers.
    if (found[stage].layered_kernels * 2 >= whole.sum.kernel_count &&
        !found[stage].layers.empty()) {
      // A decode without known steps passes through a layer as often as its range was opened.
      if (!whole.undivided || found[stage].passes == 0) found[stage].passes = whole.passes;
    } else if (const auto models = models_of(passes, stage, times); models.size() > 1) {
      add_models(models, stages.stages[stage], stage, repeated, trace.kernels.size(), layers);
      continue;
    } else {
      found[stage] = repeated.run(stage);
    }
    if (found[stage].layers.empty()) {
      add_reason(stages.stages[stage], whole, std::nullopt, layers);
      continue;
    }
    add_rows(found[stage], stage, 0, whole, trace.kernels.size(), layers);
  }
  return layers;
}

}  // namespace llmprof::analysis
