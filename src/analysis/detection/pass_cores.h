#pragma once

#include <cstdint>
#include <vector>

#include "analysis/detection/kernel_sequence.h"

namespace llmprof::analysis {

// The layers of one forward pass, found because they repeat: positions [begin, end) of the
// sequence.
struct PassCore {
  uint32_t begin = 0;
  uint32_t end = 0;
  uint32_t period = 0;  // kernels of one repeat; 0: hidden in a graph replay
  uint32_t layers = 0;  // 0: hidden in a graph replay, or a graph in which nothing repeats
  uint32_t layers_per_repeat = 1;
  bool in_loop = false;  // the pass itself repeats immediately

  [[nodiscard]] uint32_t length() const { return end - begin; }
  // Equal for passes of one kind.
  [[nodiscard]] std::pair<uint32_t, uint32_t> kind() const { return {period, layers}; }
};

// In order, without kernel names: in a loop of equal passes, the layers fill most of the period,
// and the model's other passes have as many layers. A graph replay is a pass, or part of one if
// several graphs always follow each other.
std::vector<PassCore> find_pass_cores(const KernelSequence& sequence);

}  // namespace llmprof::analysis
