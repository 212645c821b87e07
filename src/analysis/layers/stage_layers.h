#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/stages/meaningful_ranges.h"
#include "analysis/stages/stages.h"

namespace llmprof::analysis {

// A stage's kernels by layer.
struct StageLayers {
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
std::vector<StageLayers> layers_of_ranges(const trace::Trace& trace, const Stages& stages,
                                          const MeaningfulRanges& ranges);

}  // namespace llmprof::analysis
