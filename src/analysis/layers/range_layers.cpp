#include <algorithm>
#include <map>
#include <unordered_map>

#include "analysis/layers/pass_layers.h"

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
  RangeLayers(const trace::Trace& trace, const Stages& stages, const MeaningfulRanges& ranges)
      : trace_(trace), stages_(stages), ranges_(ranges), found_(stages.stages.size()) {}

  std::vector<KernelsByLayer> run() {
    const bool any =
        ranges_.any(RangeMeaning::Kind::layer) || ranges_.any(RangeMeaning::Kind::layer_part);
    if (!any || stages_.instances.empty()) return std::move(found_);
    add_kernels();
    for (KernelsByLayer& stage : found_) {
      std::map<std::string_view, uint64_t> openings;
      for (const KernelsByLayer::Label& label : stage.labels) {
        const uint64_t passes = openings[label.layer] += label.openings;
        stage.passes = std::max(stage.passes, passes);
      }
    }
    return std::move(found_);
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
  static constexpr uint32_t kNoLayer = UINT32_MAX;

  void add_kernels() {
    KernelLayers layers(trace_, ranges_);
    // By range: the launch that last used it. An eager range counts once, a captured one once per
    // replay.
    std::vector<trace::LaunchRow> met(ranges_.ranges().size());
    std::vector<uint64_t> captured(found_.size(), 0);
    const trace::KernelTable& kernels = trace_.kernels;
    for (size_t i = 0; i < kernels.size(); ++i) {
      const InstanceId owner = stages_.owners.kernel_instance[i];
      if (!owner.valid() || stages_.instances[owner.index()].warmup) continue;
      const LayerAt at = layers.of(i);
      if (!at.any()) continue;
      const uint32_t row = stages_.instances[owner.index()].stage;
      const uint32_t label = label_of(row, at);
      if (label == kNoLayer) continue;
      KernelsByLayer& stage = found_[row];
      stage.kernels.push_back({static_cast<uint32_t>(i), label});
      if (at.captured) ++captured[row];
      if (!at.layer.valid()) continue;
      trace::LaunchRow& last = met[at.layer.index()];
      if (at.captured ? last != kernels.launch[i] : !last.valid()) ++stage.labels[label].openings;
      last = kernels.launch[i];
    }
    for (size_t i = 0; i < found_.size(); ++i) {
      if (captured[i] * 2 > found_[i].kernels.size()) found_[i].source = StageSource::captured;
    }
  }

  uint32_t label_of(uint32_t stage, const LayerAt& at) {
    // A layer has several consecutive kernels.
    if (stage == last_stage_ && at == last_at_) return last_label_;
    last_stage_ = stage;
    last_at_ = at;
    const auto meaning = [&](OpenRangeId id) {
      return id.valid() ? ranges_[id].meaning : MeaningId();
    };
    const size_t slot =
        keys_.intern({stage, meaning(at.layer), meaning(at.part), at.captured}).index();
    if (slot == labels_.size()) labels_.push_back(make_label(at, found_[stage]));
    last_label_ = labels_[slot];
    return last_label_;
  }

  [[nodiscard]] uint32_t make_label(const LayerAt& at, KernelsByLayer& stage) const {
    KernelsByLayer::Label label;
    if (at.layer.valid()) label.layer = ranges_.meaning(at.layer).name;
    if (at.part.valid()) {
      // A module's full name includes the layer: "layer_07/self_attn".
      const std::string& part = ranges_.meaning(at.part).name;
      const size_t slash = part.find('/');
      if (slash != std::string::npos) label.layer = part.substr(0, slash);
      label.part = slash == std::string::npos ? part : part.substr(slash + 1);
    }
    if (label.layer.empty()) return kNoLayer;  // a part without a layer
    const OpenRangeId range = at.layer.valid() ? at.layer : at.part;
    const trace::RangeKind kind = trace_.ranges.kind[ranges_[range].row];
    const bool noted = kind == trace::RangeKind::annotation || kind == trace::RangeKind::module;
    stage.source = noted ? StageSource::annotation : StageSource::nvtx;
    stage.labels.push_back(std::move(label));
    return static_cast<uint32_t>(stage.labels.size() - 1);
  }

  const trace::Trace& trace_;
  const Stages& stages_;
  const MeaningfulRanges& ranges_;
  std::vector<KernelsByLayer> found_;  // by stage
  trace::Interner<SlotId, Key> keys_;
  std::vector<uint32_t> labels_;  // by key: in its stage's labels
  uint32_t last_stage_ = UINT32_MAX;
  LayerAt last_at_;
  uint32_t last_label_ = 0;
};

}  // namespace

std::vector<KernelsByLayer> layers_of_ranges(const trace::Trace& trace, const Stages& stages,
                                             const MeaningfulRanges& ranges) {
  return RangeLayers(trace, stages, ranges).run();
}

}  // namespace llmprof::analysis
