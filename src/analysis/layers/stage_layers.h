#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/layers/layers.h"
#include "analysis/stages/meaningful_ranges.h"

namespace llmprof::analysis {

// Numeric: "layer_9" before "layer_10".
struct LayerOrder {
  bool operator()(const std::string& a, const std::string& b) const {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  }
};

struct StageLayers {
  struct Layer {
    LayerSum sum;
    uint64_t openings = 0;                                // of its range
    std::vector<std::pair<std::string, LayerSum>> parts;  // in order of first occurrence
  };
  // A kernel's row, and its layer's index in `labels`.
  struct KernelLabel {
    uint32_t kernel = 0;
    uint32_t label = 0;
  };
  std::map<std::string, Layer, LayerOrder> layers;
  std::vector<KernelLabel> kernels;  // those that the layers' sums count
  std::vector<std::string> labels;
  StageSource source = StageSource::nvtx;
  uint64_t layered_kernels = 0;
  uint64_t passes = 0;  // with layers
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

// Per stage: kernels by the layer and part that were open at their launch. A graph's kernel belongs
// to the layer that was open when its node was captured, if that is known; its stage is always the
// replay's.
std::vector<StageLayers> layers_of_ranges(const trace::Trace& trace, const Stages& stages,
                                          const MeaningfulRanges& ranges, const KernelTimes& times);

}  // namespace llmprof::analysis
