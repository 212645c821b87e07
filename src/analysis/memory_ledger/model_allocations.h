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
// `bytes` are the sizes of the allocations of one library.
ModelAllocations find_model_allocations(const std::vector<uint64_t>& bytes,
                                        const llm::ModelSpec& model);

}  // namespace llmprof::analysis
