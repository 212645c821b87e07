#pragma once

#include <vector>

#include "analysis/detection/kernel_sequence.h"

namespace llmprof::analysis {

// What counts the layers: the attention of one layer (its kernels lie close together), or a graph
// replay that hides a whole forward pass.
struct LayerBeat {
  uint32_t first = 0;  // position of its first kernel
  uint32_t last = 0;   // and of its last
  bool replay = false;
};

// In order. Where no kernel is known as attention, a softmax between two matrix products is taken
// for one. Empty where there is neither.
std::vector<LayerBeat> find_layer_beats(const KernelSequence& sequence);

}  // namespace llmprof::analysis
