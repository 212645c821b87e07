#include "analysis/layers/layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>

#include "analysis/layers/layer_cuts.h"
#include "analysis/layers/pass_kernels.h"
#include "analysis/stages/meaningful_ranges.h"

namespace llmprof {
namespace {

constexpr std::string_view kOutside = "outside layers";

// Kernel time without a name yet.
struct LayerSum {
  uint64_t kernel_count = 0;
  Nanoseconds kernel_sum = 0;
  std::array<Nanoseconds, kKernelClasses> by_class{};

  void add(Nanoseconds duration, KernelClass kernel_class) {
    ++kernel_count;
    kernel_sum += duration;
    by_class[static_cast<size_t>(kernel_class)] += duration;
  }
};

LayerRow row_of(std::string name, uint32_t stage, const LayerSum& sum) {
  LayerRow row;
  row.name = std::move(name);
  row.stage = stage;
  row.kernel_count = sum.kernel_count;
  row.kernel_sum = sum.kernel_sum;
  row.by_class = sum.by_class;
  return row;
}

// "layer_9" before "layer_10".
struct LayerOrder {
  bool operator()(const std::string& a, const std::string& b) const {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  }
};

// Layers of one stage.
struct StageLayers {
  struct Layer {
    LayerSum sum;
    uint64_t openings = 0;                                // of its range
    std::vector<std::pair<std::string, LayerSum>> parts;  // in order of first occurrence
  };
  std::map<std::string, Layer, LayerOrder> layers;
  StageSource source = StageSource::nvtx;
  uint64_t layered_kernels = 0;
  uint64_t passes = 0;  // with layers
};

// What a kernel's duration and class are.
class KernelTimes {
 public:
  KernelTimes(const Trace& trace, const DescribedNames& names) : trace_(trace), names_(names) {}
  [[nodiscard]] Nanoseconds duration(size_t kernel) const {
    return trace_.kernels.end[kernel] - trace_.kernels.start[kernel];
  }
  [[nodiscard]] KernelClass kernel_class(size_t kernel) const {
    return names_[trace_.kernels.name[kernel]].kernel_class;
  }
  void add(size_t kernel, LayerSum& sum) const { sum.add(duration(kernel), kernel_class(kernel)); }

 private:
  const Trace& trace_;
  const DescribedNames& names_;
};

// Kernels by the layer and part that were open when they were launched.
class RangeLayers {
 public:
  RangeLayers(const Trace& trace, const Stages& stages, const StageRules& rules,
              const KernelTimes& times)
      : trace_(trace), stages_(stages), ranges_(trace, rules), times_(times) {}

  std::vector<StageLayers> run() {
    std::vector<StageLayers> found(stages_.stages.size());
    const bool any =
        ranges_.any(RangeMeaning::Kind::layer) || ranges_.any(RangeMeaning::Kind::layer_part);
    if (!any || stages_.instances.empty()) return found;
    MeaningfulRanges::Cursor cursor(ranges_);
    std::vector<bool> met(ranges_.ranges().size(), false);
    const KernelTable& kernels = trace_.kernels;
    for (size_t i = 0; i < kernels.size(); ++i) {
      const InstanceId owner = stages_.owners.kernel_instance[i];
      if (!owner.valid() || stages_.instances[owner.index()].warmup) continue;
      const OpenAt open = cursor.at(kernels.launch[i]);
      if (!open.layer.valid() && !open.part.valid()) continue;
      Slot& slot = slot_of(stages_.instances[owner.index()].stage, open);
      if (slot.layer.empty()) continue;  // a part without a layer
      times_.add(i, slot.sum);
      if (open.layer.valid() && !met[open.layer.index()]) ++slot.openings;
      if (open.layer.valid()) met[open.layer.index()] = true;
    }
    for (const Slot& slot : slots_) {
      if (slot.layer.empty()) continue;
      merge(slot, found[slot.stage]);
    }
    return found;
  }

 private:
  struct Key {
    uint32_t stage = 0;
    MeaningId layer;
    MeaningId part;
    friend bool operator==(const Key&, const Key&) = default;
    [[nodiscard]] size_t hash() const { return hash_mix(hash_mix(stage, layer.value), part.value); }
  };
  using SlotId = Id<struct LayerSlotKind>;
  struct Slot {
    uint32_t stage = 0;
    std::string layer;
    std::string part;
    StageSource source = StageSource::nvtx;
    uint64_t openings = 0;  // of the layer's range, counted where its first kernel is
    LayerSum sum;
  };

  Slot& slot_of(uint32_t stage, const OpenAt& open) {
    const auto meaning = [&](OpenRangeId id) {
      return id.valid() ? ranges_[id].meaning : MeaningId();
    };
    const size_t slot = keys_.intern({stage, meaning(open.layer), meaning(open.part)}).index();
    if (slot < slots_.size()) return slots_[slot];
    Slot made;
    made.stage = stage;
    if (open.layer.valid()) made.layer = ranges_.meaning(open.layer).name;
    if (open.part.valid()) {
      // A module's full name tells the layer too: "layer_07/self_attn".
      const std::string& part = ranges_.meaning(open.part).name;
      const size_t slash = part.find('/');
      if (slash != std::string::npos) made.layer = part.substr(0, slash);
      made.part = slash == std::string::npos ? part : part.substr(slash + 1);
    }
    const OpenRangeId range = open.layer.valid() ? open.layer : open.part;
    if (trace_.ranges.kind[ranges_[range].row] == RangeKind::annotation) {
      made.source = StageSource::annotation;
    }
    slots_.push_back(std::move(made));
    return slots_.back();
  }

  static void merge(const LayerSum& more, LayerSum& sum) {
    sum.kernel_count += more.kernel_count;
    sum.kernel_sum += more.kernel_sum;
    for (size_t i = 0; i < sum.by_class.size(); ++i) sum.by_class[i] += more.by_class[i];
  }

  static void merge(const Slot& slot, StageLayers& found) {
    StageLayers::Layer& layer = found.layers[slot.layer];
    merge(slot.sum, layer.sum);
    layer.openings += slot.openings;
    found.passes = std::max(found.passes, layer.openings);
    found.layered_kernels += slot.sum.kernel_count;
    found.source = slot.source;
    if (slot.part.empty()) return;
    auto part = std::find_if(layer.parts.begin(), layer.parts.end(),
                             [&](const auto& known) { return known.first == slot.part; });
    if (part == layer.parts.end()) part = layer.parts.insert(part, {slot.part, LayerSum()});
    merge(slot.sum, part->second);
  }

  const Trace& trace_;
  const Stages& stages_;
  const MeaningfulRanges ranges_;
  const KernelTimes& times_;
  Interner<SlotId, Key> keys_;
  std::vector<Slot> slots_;
};

// Layers as what repeats in each pass's kernel names.
class RepeatedLayers {
 public:
  RepeatedLayers(const Trace& trace, const DescribedNames& names, const PassKernels& passes,
                 const KernelTimes& times)
      : trace_(trace), names_(names), passes_(passes), times_(times) {}

  // Of one model's passes only, where several ran.
  StageLayers run(uint32_t stage, std::optional<uint32_t> model = std::nullopt) {
    std::vector<std::pair<size_t, const std::vector<size_t>*>> cut;  // pass, where
    std::map<size_t, size_t> passes_by_count;
    for (size_t pass = 0; pass < passes_.size(); ++pass) {
      if (passes_.stage(pass) != stage || passes_.undivided(pass)) continue;
      if (model && passes_.model(pass) != *model) continue;
      const std::vector<size_t>& cuts = cuts_of(passes_.kernels(pass));
      if (cuts.empty()) continue;
      cut.emplace_back(pass, &cuts);
      ++passes_by_count[cuts.size() - 1];
    }
    StageLayers found;
    found.source = StageSource::detected;
    if (cut.empty()) return found;
    const size_t layers =
        std::max_element(passes_by_count.begin(), passes_by_count.end(), [](auto& a, auto& b) {
          return a.second < b.second;
        })->first;
    std::vector<LayerSum> sums(layers);
    for (const auto& [pass, cuts] : cut) {
      if (cuts->size() - 1 != layers) continue;
      ++found.passes;
      const auto kernels = passes_.kernels(pass);
      for (size_t layer = 0; layer < layers; ++layer) {
        for (size_t i = (*cuts)[layer]; i < (*cuts)[layer + 1]; ++i) {
          times_.add(kernels[i], sums[layer]);
        }
      }
    }
    for (size_t i = 0; i < layers; ++i) {
      found.layers[fmt::format("layer_{:02}", i)].sum = sums[i];
      found.layered_kernels += sums[i].kernel_count;
    }
    return found;
  }

 private:
  // Passes repeat: each distinct sequence is looked at once.
  const std::vector<size_t>& cuts_of(std::span<const uint32_t> kernels) {
    std::vector<uint32_t> tokens(kernels.size());
    size_t hash = kernels.size();
    for (size_t i = 0; i < kernels.size(); ++i) {
      tokens[i] = trace_.kernels.name[kernels[i]].value;
      hash = hash_mix(hash, tokens[i]);
    }
    const auto [known, fresh] = known_.try_emplace(hash);
    if (fresh) {
      KernelSequence sequence(trace_, names_, {}, {});
      for (const uint32_t kernel : kernels) sequence.add({kernel, false});
      known->second = layer_cuts(tokens, find_layer_beats(sequence), find_layer_period(tokens));
    }
    return known->second;
  }

  const Trace& trace_;
  const DescribedNames& names_;
  const PassKernels& passes_;
  const KernelTimes& times_;
  std::unordered_map<size_t, std::vector<size_t>> known_;
};

// What a stage's kernels come to, and its passes.
struct StageWhole {
  LayerSum sum;
  uint64_t passes = 0;
  bool undivided = false;
  Nanoseconds hidden = 0;
};

std::vector<StageWhole> wholes_of(const Trace& trace, const Stages& stages,
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

// Says of a layer that it is unlike most others of its stage, by its kernels a pass.
class UnlikeMost {
 public:
  explicit UnlikeMost(const StageLayers& found) : passes_(std::max<uint64_t>(found.passes, 1)) {
    std::vector<uint64_t> counts;
    for (const auto& [name, layer] : found.layers) counts.push_back(layer.sum.kernel_count);
    if (counts.empty()) return;
    const auto middle = counts.begin() + static_cast<std::ptrdiff_t>(counts.size() / 2);
    std::nth_element(counts.begin(), middle, counts.end());
    median_ = *middle;
  }
  [[nodiscard]] std::string note(const LayerSum& sum) const {
    const auto apart = std::max(sum.kernel_count, median_) - std::min(sum.kernel_count, median_);
    if (kUnlikePart * apart <= median_) return {};
    const auto a_pass = [&](uint64_t count) {
      return static_cast<double>(count) / static_cast<double>(passes_);
    };
    return fmt::format("{:.4g} kernels a pass, the median layer {:.4g}", a_pass(sum.kernel_count),
                       a_pass(median_));
  }

 private:
  static constexpr uint64_t kUnlikePart = 10;  // of the median's kernels: a tenth
  uint64_t passes_;
  uint64_t median_ = 0;
};

void add_rows(const StageLayers& found, uint32_t stage, uint32_t model, const StageWhole& whole,
              Layers& layers) {
  LayerSum outside = whole.sum;
  const UnlikeMost unlike(found);
  const auto push = [&](LayerRow row, bool part, uint64_t passes) {
    row.model = model;
    row.part = part;
    row.source = found.source;
    row.passes = passes;
    layers.rows.push_back(std::move(row));
  };
  for (const auto& [name, layer] : found.layers) {
    LayerRow whole_layer = row_of(name, stage, layer.sum);
    whole_layer.note = unlike.note(layer.sum);
    push(std::move(whole_layer), false, found.passes);
    for (const auto& [part, sum] : layer.parts) {
      push(row_of(name + "/" + part, stage, sum), true, found.passes);
    }
    outside.kernel_count -= layer.sum.kernel_count;
    outside.kernel_sum -= layer.sum.kernel_sum;
    for (size_t i = 0; i < outside.by_class.size(); ++i) {
      outside.by_class[i] -= layer.sum.by_class[i];
    }
  }
  push(row_of(std::string(kOutside), stage, outside), false, whole.passes);
}

std::string why_none(const Stage& stage, const StageWhole& whole) {
  if (whole.hidden > whole.sum.kernel_sum) {
    return fmt::format("{}: its kernels are hidden inside CUDA graph replays", stage.name);
  }
  if (whole.sum.kernel_count == 0) return fmt::format("{}: no kernels", stage.name);
  if (whole.undivided) return fmt::format("{}: its steps are not known", stage.name);
  return fmt::format(
      "{}: no layer ranges around its launches, and its kernels do not repeat as layers do",
      stage.name);
}

void add_reason(const std::string& reason, Layers& layers) {
  if (!layers.reason.empty()) layers.reason += "; ";
  layers.reason += reason;
}

// What the passes of each model come to. Passes of an unknown model are one of their own.
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
                RepeatedLayers& repeated, Layers& layers) {
  for (const auto& [model, whole] : models) {
    const StageLayers found = repeated.run(row, model);
    if (found.layers.empty()) {
      add_reason(
          fmt::format("{} (the model of {} attention layers)", why_none(stage, whole), model),
          layers);
    } else {
      add_rows(found, row, model, whole, layers);
    }
  }
}

}  // namespace

Layers find_layers(const Trace& trace, const Stages& stages, const StageRules& rules,
                   const DescribedNames& names, bool use_annotations) {
  Layers layers;
  const KernelTimes times(trace, names);
  const PassKernels passes(trace, stages);
  const auto wholes = wholes_of(trace, stages, passes, times);
  std::vector<StageLayers> found(stages.stages.size());
  if (use_annotations) found = RangeLayers(trace, stages, rules, times).run();
  RepeatedLayers repeated(trace, names, passes, times);
  for (uint32_t stage = 0; stage < stages.stages.size(); ++stage) {
    const StageWhole& whole = wholes[stage];
    // A few launches inside layer ranges (a captured graph's odd kernel) are not its layers.
    if (found[stage].layered_kernels * 2 >= whole.sum.kernel_count &&
        !found[stage].layers.empty()) {
      // A decode without known steps passes through a layer as often as its range was opened.
      if (!whole.undivided || found[stage].passes == 0) found[stage].passes = whole.passes;
    } else if (const auto models = models_of(passes, stage, times); models.size() > 1) {
      add_models(models, stages.stages[stage], stage, repeated, layers);
      continue;
    } else {
      found[stage] = repeated.run(stage);
    }
    if (found[stage].layers.empty()) {
      add_reason(why_none(stages.stages[stage], whole), layers);
      continue;
    }
    add_rows(found[stage], stage, 0, whole, layers);
  }
  return layers;
}

}  // namespace llmprof
