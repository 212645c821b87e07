#pragma once

#include <cstdint>
#include <vector>

#include "cpu_llm/float_buffer.h"
#include "cpu_llm/model_shape.h"
#include "cpu_llm/workers.h"

namespace cpu_llm {

// One row per output, so that a product reads rows sequentially.
struct Matrix {
  size_t rows = 0;
  size_t columns = 0;
  FloatBuffer values;

  [[nodiscard]] const float* row(size_t index) const { return values.data() + index * columns; }
};

struct LayerWeights {
  FloatBuffer attention_norm;
  Matrix qkv;  // queries, keys and values in one matrix
  Matrix o;    // from the heads back to hidden
  FloatBuffer feed_forward_norm;
  Matrix gate_up;  // gate, then up
  Matrix down;
};

struct Weights {
  ModelShape shape;
  Matrix embedding;
  std::vector<LayerWeights> layers;
  FloatBuffer final_norm;
  Matrix lm_head;  // of this part of the vocabulary; not tied to the embedding

  [[nodiscard]] size_t bytes() const;
};

// Of one part.
size_t weights_bytes(const ModelShape& shape);

// The same for the same seed, independent of the number of workers, and of that of parts: part 1 of
// 2 has the numbers that its rows and columns have in the whole. Matrices preserve the variance of
// their inputs, so that activations stay finite at any depth.
Weights random_weights(const ModelShape& shape, uint64_t seed, Workers& workers, size_t part = 0);

}  // namespace cpu_llm
