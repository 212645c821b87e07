#pragma once

#include <cstdint>
#include <optional>

#include "fit/request.h"

namespace llmprof::fit {

// What PyTorch's allocator holds for transformers with a StaticCache, at its largest.
struct StaticMemory {
  uint64_t weights = 0;
  uint64_t cache = 0;
  uint64_t workspaces = 0;   // of cuBLAS, on the main stream
  uint64_t activations = 0;  // of the pass with the largest sum of tensors at a time
  uint64_t graphs = 0;       // reserved for warm-up's stream and for the graph
  uint64_t reserved = 0;     // all of it, what is reserved but free included
  bool fits = true;
};

// Runs the engine's allocations through a model of PyTorch's allocator: loading, prefill, then
// decode, or warm-up and the capture of a graph. `limit`: bytes that PyTorch can reserve.
StaticMemory simulate_static_engine(const Request& request, std::optional<uint64_t> limit);

}  // namespace llmprof::fit
