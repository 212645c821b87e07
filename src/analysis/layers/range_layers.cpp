#include "analysis/layers/stage_layers.h"

#include <algorithm>
#include <unordered_map>

namespace llmprof::analysis {
namespace {

// A kernel's layer and part, and where they come from.
struct LayerAt {
  OpenRangeId layer;
  OpenRangeId part;
  bool captured = false;  // from the capture of its graph's node

  friend bool operator==(const LayerAt&, const LayerAt&) = default;
  [[nodiscard]] bool any() const { return layer.valid() || part.valid(); }
};

// Finds each kernel's layer. Fast if kernels are queried roughly in time order.
class KernelLayers {
 public:
  KernelLayers(const trace::Trace& trace, const MeaningfulRanges& ranges)
      : kernels_(trace.kernels), cursor_(ranges) {}

  LayerAt of(size_t kernel) {
    const OpenAt launch =
        cursor_.at(kernels_.launch[kernel]);  // copied: the next query overwrites it
    const trace::RangeRow node =
        kernels_.node_range.empty() ? trace::RangeRow() : kernels_.node_range[kernel];
    if (!node.valid()) return {launch.layer, launch.part};
    const OpenAt capture = at_capture(node);
    if (capture.layer.valid()) return {capture.layer, capture.part, true};
    // A graph of one part of a layer, replayed inside each.
    if (capture.part.valid()) return {launch.layer, capture.part, true};
    return {launch.layer, launch.part};
  }

 private:
  // Replays query the same few ranges again and again.
  const OpenAt& at_capture(trace::RangeRow range) {
    if (range == last_ && last_open_ != nullptr) return *last_open_;
    const auto [known, fresh] = captured_.try_emplace(range);
    if (fresh) known->second = cursor_.at(range);
    last_ = range;
    last_open_ = &known->second;
    return known->second;
  }

  const trace::KernelTable& kernels_;
  MeaningfulRanges::Cursor cursor_;
  std::unordered_map<trace::RangeRow, OpenAt> captured_;
  trace::RangeRow last_;
  const OpenAt* last_open_ = nullptr;
};

class RangeLayers {
 public:
  RangeLayers(const trace::Trace& trace, const Stages& stages, const MeaningfulRanges& ranges,
              const KernelTimes& times)
      : trace_(trace), stages_(stages), ranges_(ranges), times_(times) {}

  std::vector<StageLayers> run() {
    std::vector<StageLayers> found(stages_.stages.size());
    const bool any =
        ranges_.any(RangeMeaning::Kind::layer) || ranges_.any(RangeMeaning::Kind::layer_part);
    if (!any || stages_.instances.empty()) return found;
    add_kernels(found);
    std::vector<uint64_t> captured(found.size(), 0);
    for (StageLayers& stage : found) {
      for (const Slot& slot : slots_) stage.labels.push_back(slot.layer);
    }
    for (const Slot& slot : slots_) {
      if (slot.layer.empty()) continue;
      merge(slot, found[slot.stage]);
      if (slot.captured) captured[slot.stage] += slot.sum.kernel_count;
    }
    for (size_t i = 0; i < found.size(); ++i) {
      if (captured[i] * 2 > found[i].layered_kernels) found[i].source = StageSource::captured;
    }
    return found;
  }

 private:
  struct Key {
    uint32_t stage = 0;
    MeaningId layer;
    MeaningId part;
    bool captured = false;
    friend bool operator==(const Key&, const Key&) = default;
    [[nodiscard]] size_t hash() const {
      return trace::hash_mix(trace::hash_mix(trace::hash_mix(stage, layer.value), part.value),
                             captured ? 1 : 0);
    }
  };
  using SlotId = trace::Id<struct LayerSlotKind>;
  struct Slot {
    uint32_t stage = 0;
    std::string layer;
    std::string part;
    StageSource source = StageSource::nvtx;  // where its ranges come from
    bool captured = false;
    uint64_t openings = 0;  // of the layer's range, counted at its first kernel
    LayerSum sum;
  };

  void add_kernels(std::vector<StageLayers>& found) {
    KernelLayers layers(trace_, ranges_);
    // By range: the launch that last used it. An eager range counts once, a captured one once per
    // replay.
    std::vector<trace::LaunchRow> met(ranges_.ranges().size());
    const trace::KernelTable& kernels = trace_.kernels;
    for (size_t i = 0; i < kernels.size(); ++i) {
      const InstanceId owner = stages_.owners.kernel_instance[i];
      if (!owner.valid() || stages_.instances[owner.index()].warmup) continue;
      const LayerAt at = layers.of(i);
      if (!at.any()) continue;
      const uint32_t row = slot_of(stages_.instances[owner.index()].stage, at);
      Slot& slot = slots_[row];
      if (slot.layer.empty()) continue;  // a part without a layer
      times_.add(i, slot.sum);
      found[slot.stage].kernels.push_back({static_cast<uint32_t>(i), row});
      if (!at.layer.valid()) continue;
      trace::LaunchRow& last = met[at.layer.index()];
      if (at.captured ? last != kernels.launch[i] : !last.valid()) ++slot.openings;
      last = kernels.launch[i];
    }
  }

  uint32_t slot_of(uint32_t stage, const LayerAt& at) {
    // A layer has several consecutive kernels.
    if (stage == last_stage_ && at == last_at_) return last_slot_;
    last_stage_ = stage;
    last_at_ = at;
    last_slot_ = find_slot(stage, at);
    return last_slot_;
  }

  uint32_t find_slot(uint32_t stage, const LayerAt& at) {
    const auto meaning = [&](OpenRangeId id) {
      return id.valid() ? ranges_[id].meaning : MeaningId();
    };
    const uint32_t slot =
        keys_.intern({stage, meaning(at.layer), meaning(at.part), at.captured}).value;
    if (slot == slots_.size()) slots_.push_back(make_slot(stage, at));
    return slot;
  }

  [[nodiscard]] Slot make_slot(uint32_t stage, const LayerAt& at) const {
    Slot made;
    made.stage = stage;
    if (at.layer.valid()) made.layer = ranges_.meaning(at.layer).name;
    if (at.part.valid()) {
      // A module's full name includes the layer: "layer_07/self_attn".
      const std::string& part = ranges_.meaning(at.part).name;
      const size_t slash = part.find('/');
      if (slash != std::string::npos) made.layer = part.substr(0, slash);
      made.part = slash == std::string::npos ? part : part.substr(slash + 1);
    }
    const OpenRangeId range = at.layer.valid() ? at.layer : at.part;
    made.captured = at.captured;
    const trace::RangeKind kind = trace_.ranges.kind[ranges_[range].row];
    if (kind == trace::RangeKind::annotation || kind == trace::RangeKind::module) {
      made.source = StageSource::annotation;
    }
    return made;
  }

  static void merge(const Slot& slot, StageLayers& found) {
    StageLayers::Layer& layer = found.layers[slot.layer];
    layer.sum += slot.sum;
    layer.openings += slot.openings;
    found.passes = std::max(found.passes, layer.openings);
    found.layered_kernels += slot.sum.kernel_count;
    found.source = slot.source;
    if (slot.part.empty()) return;
    auto part =
        std::ranges::find(layer.parts, slot.part, [](const auto& known) { return known.first; });
    if (part == layer.parts.end()) part = layer.parts.insert(part, {slot.part, LayerSum()});
    part->second += slot.sum;
  }

  const trace::Trace& trace_;
  const Stages& stages_;
  const MeaningfulRanges& ranges_;
  const KernelTimes& times_;
  trace::Interner<SlotId, Key> keys_;
  std::vector<Slot> slots_;
  uint32_t last_stage_ = UINT32_MAX;
  LayerAt last_at_;
  uint32_t last_slot_ = 0;
};

}  // namespace

std::vector<StageLayers> layers_of_ranges(const trace::Trace& trace, const Stages& stages,
                                          const MeaningfulRanges& ranges,
                                          const KernelTimes& times) {
  return RangeLayers(trace, stages, ranges, times).run();
}

}  // namespace llmprof::analysis
