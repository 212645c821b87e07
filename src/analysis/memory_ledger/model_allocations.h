#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "llm/model_spec.h"

namespace llmprof::analysis {

// Allocations of a program that have the size of the model's weights, or of its KV cache. An
// allocator's segments say nothing of their content: leave them out.
struct ModelAllocations {
  std::vector<size_t> weights;  // indices
  std::vector<size_t> kv_cache;
};

struct SizedAllocation {
  uint64_t bytes = 0;
  bool before_first_pass = false;  // of the model: memory for activations comes with it
};

// `allocations` are those of one library.
ModelAllocations find_model_allocations(const std::vector<SizedAllocation>& allocations,
                                        const llm::ModelSpec& model);

}  // namespace llmprof::analysis
