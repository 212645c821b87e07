#include "cpu_llm/default_layers.h"

#include "cpu_llm/weights.h"
#include "llm/layers_beyond_cache.h"

namespace cpu_llm {

size_t default_layers(std::optional<size_t> cache_bytes, size_t memory_bytes) {
  const ModelShape shape;
  ModelShape larger;
  larger.layers = shape.layers + 1;
  const size_t layer = weights_bytes(larger) - weights_bytes(shape);
  return llmprof::llm::layers_beyond_cache(
      {shape.layers, layer, weights_bytes(shape) - shape.layers * layer}, cache_bytes,
      memory_bytes);
}

}  // namespace cpu_llm
