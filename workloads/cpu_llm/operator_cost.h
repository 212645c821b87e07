#pragma once

#include <cstddef>
#include <cstdint>

#include "cpu_llm/model_shape.h"

namespace cpu_llm {

// What an operator computes, and what it must move between memory and processor at the least:
// weights and tables once, every input once, every output once.
// An addition, multiplication, division, exponential is one FLOP each, a comparison none; what is
// done once a row (the root of a norm, the maximum of a softmax) is left out.
struct OperatorCost {
  uint64_t flops = 0;
  uint64_t bytes = 0;

  OperatorCost& operator+=(const OperatorCost& other) {
    flops += other.flops;
    bytes += other.bytes;
    return *this;
  }
  friend OperatorCost operator-(const OperatorCost& a, const OperatorCost& b) {
    return {a.flops - b.flops, a.bytes - b.bytes};
  }
};

// One pass through the model: each of `sequences` adds `added` tokens to `cached` ones.
struct Pass {
  size_t sequences = 1;
  size_t added = 1;
  size_t cached = 0;

  [[nodiscard]] size_t rows() const { return sequences * added; }
};

OperatorCost embedding_cost(size_t rows, size_t hidden);
OperatorCost rms_norm_cost(size_t rows, size_t hidden);
// Adds to the residual stream first, and writes it back.
OperatorCost add_rms_norm_cost(size_t rows, size_t hidden);
OperatorCost product_cost(size_t rows, size_t inputs, size_t outputs);
OperatorCost rope_cost(const Pass& pass, const ModelShape& shape);
OperatorCost kv_append_cost(const Pass& pass, const ModelShape& shape);
// Causal: a token looks at itself and at what came before. Scores stay in cache.
OperatorCost attention_cost(const Pass& pass, const ModelShape& shape);
OperatorCost silu_mul_cost(size_t rows, size_t intermediate);
OperatorCost argmax_cost(size_t rows, size_t vocabulary);

}  // namespace cpu_llm
