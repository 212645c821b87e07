#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>

namespace llmprof::llm {

// The weights of a model whose layers are all the same size.
struct EqualLayers {
  size_t fewest = 1;  // layers
  size_t layer_bytes = 0;
  size_t other_bytes = 0;  // embeddings, head: independent of the number of layers
};

// The number of layers that makes the weights at least four times the last-level cache, so that
// each token reads them from memory; limited to half the memory (0: unknown), but never below the
// fewest. `llmprof run` and cpu_llm both use it, so that they agree; header-only, so that cpu_llm
// need not link a library.
inline size_t layers_beyond_cache(const EqualLayers& weights, std::optional<size_t> cache_bytes,
                                  size_t memory_bytes) {
  constexpr size_t kEnoughCaches = 4;
  if (!cache_bytes || weights.layer_bytes == 0) return weights.fewest;
  const auto for_layers = [&](size_t bytes) {
    return bytes > weights.other_bytes ? bytes - weights.other_bytes : 0;
  };
  const size_t wanted =
      (for_layers(kEnoughCaches * *cache_bytes) + weights.layer_bytes - 1) / weights.layer_bytes;
  const size_t fit =
      memory_bytes == 0 ? wanted : for_layers(memory_bytes / 2) / weights.layer_bytes;
  return std::max(weights.fewest, std::min(wanted, fit));
}

}  // namespace llmprof::llm
