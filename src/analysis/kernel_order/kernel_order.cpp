#include "analysis/kernel_order/kernel_order.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <unordered_map>

#include "analysis/layers/pass_layers.h"
#include "analysis/naming/kernel_key.h"
#include "base/text.h"

namespace llmprof::analysis {
namespace {

using profile::PassBlock;

// Kernels by name, each computed once: names repeat at many places.
using KernelKeys = std::unordered_map<trace::StringId, std::string>;

// The kernel places of one stage.
class PlacesOfStage {
 public:
  explicit PlacesOfStage(const trace::Trace& trace)
      : trace_(trace), names_(trace.strings.size() + 1, kNone) {}

  // Adds consecutive kernels of one pass: a layer, or the kernels before or after the layers.
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

  std::vector<profile::PlacedKernel> take(const DescribedNames& names, KernelKeys& keys) {
    std::stable_sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) {
      if (a.kernel.block != b.kernel.block) return a.kernel.block < b.kernel.block;
      return a.positions * static_cast<double>(b.kernel.calls) <
             b.positions * static_cast<double>(a.kernel.calls);
    });
    std::vector<profile::PlacedKernel> kernels;
    for (Row& row : rows_) {
      profile::PlacedKernel& kernel = kernels.emplace_back(std::move(row.kernel));
      kernel.mean_position = row.positions / static_cast<double>(kernel.calls);
      const auto [key, is_new] = keys.try_emplace(row.name);
      if (is_new) key->second = to_printable(kernel_key(trace_.strings[row.name]));
      kernel.key = key->second;
      kernel.short_name = names[row.name].short_name;
      kernel.kernel_class = names[row.name].kernel_class;
      if (const trace::ShapeId shape(most_frequent(row.shapes).first); shape.valid()) {
        kernel.grid = trace_.shapes[shape].grid;
        kernel.block_size = trace_.shapes[shape].block;
      }
      kernel.shapes = row.shapes.size();
    }
    return kernels;
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr size_t kBlocks = static_cast<size_t>(PassBlock::outside_passes) + 1;

  // All launches of one name at one place: the nth of that name in a layer, over all layers of all
  // passes of the stage.
  struct Row {
    profile::PlacedKernel kernel;
    trace::StringId name;
    double positions = 0;                 // sum over calls, from 0 in its layer or pass
    std::map<uint32_t, uint64_t> shapes;  // launches by shape
  };

  // A name's rows: for its first, second, ... launch in each kind of block.
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
      Row& row = rows_.emplace_back();
      row.kernel.block = block;
      row.kernel.occurrence = occurrence;
      row.name = name;
    }
    Row& row = rows_[rows[occurrence]];
    ++row.kernel.calls;
    row.kernel.total_ns.value += trace_.kernels.end[kernel] - trace_.kernels.start[kernel];
    row.positions += position;
    ++row.shapes[trace_.kernels.shape[kernel].value];
  }

  const trace::Trace& trace_;
  std::vector<uint32_t> names_;  // by string id (last: no name): index into known_
  std::vector<Name> known_;
  uint64_t round_ = 0;  // number of the current block
  std::vector<Row> rows_;
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

std::tuple<std::vector<profile::KernelSequence>, ClassesOfWork> find_kernel_sequences(
    const trace::Trace& trace, const Stages& stages, const DescribedNames& names) {
  std::vector<profile::KernelSequence> sequences(stages.stages.size());
  std::vector<PlacesOfStage> places(stages.stages.size(), PlacesOfStage(trace));
  PassLayers passes(trace, stages, names);
  for (size_t pass = 0; pass < passes.size(); ++pass) {
    profile::KernelSequence& stage = sequences[passes.stage(pass)];
    ++stage.passes;
    add_pass(passes.kernels(pass), passes.cuts(pass), places[passes.stage(pass)], stage.layers);
  }
  ClassesOfWork classes;
  classes.instances.resize(stages.instances.size());
  classes.steps.resize(stages.steps.size());
  const size_t kernels = stages.instances.empty() ? 0 : trace.kernels.size();
  for (size_t i = 0; i < kernels; ++i) {
    const InstanceId owner = stages.owners.kernel_instance[i];
    if (!owner.valid()) continue;
    const auto of_class = static_cast<size_t>(names[trace.kernels.name[i]].kernel_class);
    const Nanoseconds time = trace.kernels.end[i] - trace.kernels.start[i];
    classes.instances[owner.index()][of_class] += time;
    const StepId step = stages.owners.kernel_step[i];
    if (step.valid()) classes.steps[step.index()][of_class] += time;
    const StageInstance& instance = stages.instances[owner.index()];
    if (!instance.warmup && !step.valid() && instance.step_count > 0) {
      places[instance.stage].add_outside(static_cast<uint32_t>(i));
    }
  }
  KernelKeys keys;
  for (size_t i = 0; i < places.size(); ++i) {
    sequences[i].stage = to_printable(stages.stages[i].name);
    sequences[i].kernels = places[i].take(names, keys);
  }
  std::erase_if(sequences, [](const auto& stage) { return stage.kernels.empty(); });
  return {std::move(sequences), std::move(classes)};
}

}  // namespace llmprof::analysis
