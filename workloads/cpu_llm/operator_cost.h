#pragma once

#include <cstddef>
#include <cstdint>

#include "cpu_llm/model_shape.h"
#include "cpu_llm/pass.h"

namespace cpu_llm {

// The FLOPs of an operator, and the minimum that it must move between memory and processor: weights
// and tables once, every input once, every output once.
// An addition, multiplication, division or exponential is one FLOP, a comparison none. Work that is
// done once per row (the square root of a norm, the maximum of a softmax) is not counted.
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

OperatorCost embedding_cost(size_t rows, size_t hidden);
OperatorCost rms_norm_cost(size_t rows, size_t hidden);
// Including the addition to the residual stream, which is written back.
OperatorCost add_rms_norm_cost(size_t rows, size_t hidden);
OperatorCost product_cost(size_t rows, size_t inputs, size_t outputs);
OperatorCost rope_cost(const Pass& pass, const ModelShape& shape);
OperatorCost kv_append_cost(const Pass& pass, const ModelShape& shape);
// Causal: a token attends to itself and to earlier ones. Scores stay in the CPU's cache.
OperatorCost attention_cost(const Pass& pass, const ModelShape& shape);
OperatorCost silu_mul_cost(size_t rows, size_t intermediate);
OperatorCost argmax_cost(size_t rows, size_t vocabulary);

}  // namespace cpu_llm
