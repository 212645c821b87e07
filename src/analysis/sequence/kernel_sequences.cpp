#include "analysis/sequence/kernel_sequences.h"

#include <algorithm>
#include <array>
#include <map>

#include "analysis/layers/pass_kernels.h"
#include "analysis/layers/pass_layer_cuts.h"

namespace llmprof::analysis {
namespace {

// The places of one stage.
class PlacesOfStage {
 public:
  explicit PlacesOfStage(const trace::Trace& trace)
      : trace_(trace), names_(trace.strings.size() + 1, kNone) {}

  // Consecutive kernels of one pass: a layer, or what lies around layers.
  void add(PassBlock block, std::span<const uint32_t> kernels) {
    ++round_;
    for (size_t position = 0; position < kernels.size(); ++position) {
      add_one(block, kernels[position], static_cast<double>(position));
    }
  }

  void add_outside(uint32_t kernel) {
    ++round_;
    add_one(PassBlock::outside_passes, kernel, 0);
  }

  std::vector<PlacedKernels> take() {
    for (size_t i = 0; i < rows_.size(); ++i) {
      const auto& shapes = shapes_[i];
      rows_[i].shapes = shapes.size();
      const auto commonest =
          std::max_element(shapes.begin(), shapes.end(),
                           [](const auto& a, const auto& b) { return a.second < b.second; });
      rows_[i].commonest_shape = trace::ShapeId(commonest->first);
    }
    std::stable_sort(rows_.begin(), rows_.end(), [](const auto& a, const auto& b) {
      if (a.block != b.block) return a.block < b.block;
      return a.positions * static_cast<double>(b.calls) <
             b.positions * static_cast<double>(a.calls);
    });
    return std::move(rows_);
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr size_t kBlocks = static_cast<size_t>(PassBlock::outside_passes) + 1;

  // What is known of a name: the rows of its first, second, ... launch in each kind of block.
  struct Name {
    uint64_t round = 0;
    uint32_t launches = 0;  // in this round
    std::array<std::vector<uint32_t>, kBlocks> rows;
  };

  Name& of(trace::StringId name) {
    uint32_t& place = names_[name.valid() ? name.index() : names_.size() - 1];
    if (place == kNone) {
      place = static_cast<uint32_t>(known_.size());
      known_.emplace_back();
    }
    return known_[place];
  }

  void add_one(PassBlock block, uint32_t kernel, double position) {
    const trace::StringId name = trace_.kernels.name[kernel];
    Name& known = of(name);
    if (known.round != round_) {
      known.round = round_;
      known.launches = 0;
    }
    const uint32_t occurrence = known.launches++;
    std::vector<uint32_t>& rows = known.rows[static_cast<size_t>(block)];
    if (occurrence == rows.size()) {
      rows.push_back(static_cast<uint32_t>(rows_.size()));
      PlacedKernels& row = rows_.emplace_back();
      row.block = block;
      row.name = name;
      row.occurrence = occurrence;
      shapes_.emplace_back();
    }
    PlacedKernels& row = rows_[rows[occurrence]];
    ++row.calls;
    row.total += trace_.kernels.end[kernel] - trace_.kernels.start[kernel];
    row.positions += position;
    ++shapes_[rows[occurrence]][trace_.kernels.shape[kernel].value];
  }

  const trace::Trace& trace_;
  std::vector<uint32_t> names_;  // by name of the trace (the last: none): its place in known_
  std::vector<Name> known_;
  uint64_t round_ = 0;  // counts layers, and what lies around them
  std::vector<PlacedKernels> rows_;
  std::vector<std::map<uint32_t, uint64_t>> shapes_;  // launches by shape, per row
};

void add_pass(std::span<const uint32_t> kernels, const std::vector<size_t>& cuts,
              PlacesOfStage& places, uint64_t& layers) {
  if (cuts.size() < 2) {
    places.add(PassBlock::whole_pass, kernels);
    return;
  }
  places.add(PassBlock::before_layers, kernels.first(cuts.front()));
  for (size_t i = 0; i + 1 < cuts.size(); ++i) {
    places.add(PassBlock::layer, kernels.subspan(cuts[i], cuts[i + 1] - cuts[i]));
    ++layers;
  }
  places.add(PassBlock::after_layers, kernels.subspan(cuts.back()));
}

}  // namespace

KernelSequences find_kernel_sequences(const trace::Trace& trace, const Stages& stages,
                                      const DescribedNames& names) {
  KernelSequences found;
  found.stages.resize(stages.stages.size());
  found.instances.resize(stages.instances.size());
  found.steps.resize(stages.steps.size());
  std::vector<PlacesOfStage> places(stages.stages.size(), PlacesOfStage(trace));
  PassLayerCuts cuts(trace, names);
  const PassKernels passes(trace, stages);
  for (size_t pass = 0; pass < passes.size(); ++pass) {
    StageSequence& stage = found.stages[passes.stage(pass)];
    ++stage.passes;
    // A whole decode repeats its steps, which are not layers.
    const std::vector<size_t> none;
    add_pass(passes.kernels(pass), passes.undivided(pass) ? none : cuts.of(passes.kernels(pass)),
             places[passes.stage(pass)], stage.layers);
  }
  const size_t kernels = stages.instances.empty() ? 0 : trace.kernels.size();
  for (size_t i = 0; i < kernels; ++i) {
    const InstanceId owner = stages.owners.kernel_instance[i];
    if (!owner.valid()) continue;
    const auto of_class = static_cast<size_t>(names[trace.kernels.name[i]].kernel_class);
    const Nanoseconds time = trace.kernels.end[i] - trace.kernels.start[i];
    found.instances[owner.index()][of_class] += time;
    const StepId step = stages.owners.kernel_step[i];
    if (step.valid()) found.steps[step.index()][of_class] += time;
    const StageInstance& instance = stages.instances[owner.index()];
    if (!instance.warmup && !step.valid() && instance.step_count > 0) {
      places[instance.stage].add_outside(static_cast<uint32_t>(i));
    }
  }
  for (size_t i = 0; i < places.size(); ++i) found.stages[i].kernels = places[i].take();
  return found;
}

}  // namespace llmprof::analysis
