#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "llm/model_spec.h"

namespace llmprof::llm {

// What a tensor is for; formats of quantized weights differ by it.
enum class TensorPart : uint8_t {
  embedding,
  attention,  // projections
  value,      // of attention's projections, the one of the values
  feed_forward,
  down,  // of feed-forward's projections, the one back to the hidden size
  router,
  expert,
  norm,  // and other vectors that are never quantized: biases, sinks, decays
  head,
  vision,
};

// One tensor of a checkpoint, or several equal ones.
struct WeightTensor {
  std::string name;  // "attention.query", without the number of its layer
  TensorPart part = TensorPart::norm;
  int32_t layer = -1;     // -1: not in a layer
  uint64_t elements = 0;  // on one GPU
  uint64_t count = 1;     // equal tensors: experts of a layer
};

// All tensors in the order in which a model is built, on one of `tp` GPUs; a tied head is not
// listed, because it is the embedding. Their elements sum to parameter_count.
std::vector<WeightTensor> weight_tensors(const ModelSpec& model, uint32_t tp);

// Bytes of one value of this tensor by the formats of the specification.
double bytes_per_value(const ModelSpec& model, const WeightTensor& tensor);

}  // namespace llmprof::llm
