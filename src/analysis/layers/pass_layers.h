#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/naming/classes.h"
#include "analysis/stages/meaningful_ranges.h"
#include "analysis/stages/stages.h"

namespace llmprof::analysis {

// The kernels of each forward pass by start, and its layers. A pass is a step, or an instance
// without steps. Warm-up instances are excluded.
class PassLayers {
 public:
  PassLayers(const trace::Trace& trace, const Stages& stages, const DescribedNames& names);

  [[nodiscard]] size_t size() const { return stage_.size(); }
  [[nodiscard]] uint32_t stage(size_t pass) const { return stage_[pass]; }
  // Step::layers, which identifies the model; 0 if unknown.
  [[nodiscard]] uint32_t model(size_t pass) const { return model_[pass]; }
  // Whether it is an entire decode with unknown steps, so that its passes cannot be separated.
  [[nodiscard]] bool undivided(size_t pass) const { return undivided_[pass]; }
  // Rows of Trace::kernels.
  [[nodiscard]] std::span<const uint32_t> kernels(size_t pass) const {
    return std::span(rows_).subspan(first_[pass], first_[pass + 1] - first_[pass]);
  }
  // Where layers start among these kernels, followed by the end of the last layer. Layers are the
  // repeats of kernel names. If the pass has more attentions than repeats (two kinds of layers
  // alternate, the first layer differs, layers vary in length), each attention is a layer, provided
  // the kernels around them are similar. Empty if there are no layers, or the pass is undivided: it
  // repeats its steps. Passes repeat, so each distinct sequence is examined once.
  const std::vector<size_t>& cuts(size_t pass);

 private:
  const trace::Trace& trace_;
  const DescribedNames& names_;
  std::vector<uint32_t> stage_;
  std::vector<uint32_t> model_;
  std::vector<bool> undivided_;
  std::vector<size_t> first_;
  std::vector<uint32_t> rows_;
  std::unordered_map<size_t, std::vector<size_t>> known_cuts_;  // by hash of the names
};

// A stage's kernels by layer.
struct KernelsByLayer {
  struct Label {
    std::string layer;
    std::string part;       // of the layer; may be empty
    uint64_t openings = 0;  // of the layer's range
  };
  struct LabeledKernel {
    uint32_t kernel = 0;
    uint32_t label = 0;
  };
  std::vector<Label> labels;
  std::vector<LabeledKernel> kernels;  // those in layers
  StageSource source = StageSource::nvtx;
  uint64_t passes = 0;  // with layers
};

// Per stage: kernels by the layer and part that were open at their launch. A graph's kernel belongs
// to the layer that was open when its node was captured, if that is known; its stage is always the
// replay's.
std::vector<KernelsByLayer> layers_of_ranges(const trace::Trace& trace, const Stages& stages,
                                             const MeaningfulRanges& ranges);

}  // namespace llmprof::analysis
