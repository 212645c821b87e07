#pragma once

#include "cpu_llm/float_buffer.h"
#include "cpu_llm/operator_cost.h"
#include "cpu_llm/workers.h"

namespace cpu_llm {

// Rotary position embedding: element i of a head rotates with element i + head_size / 2, by
// position / 10000^(2 i / head_size).
class Rope {
 public:
  Rope(const ModelShape& shape, size_t positions);

  // Rotates queries and keys in place, in rows of queries, keys and values.
  void rotate(float* qkv, const Pass& pass, Workers& workers) const;

 private:
  void rotate_head(float* head, size_t position) const;

  ModelShape shape_;
  FloatBuffer cosines_;  // head_size / 2 per position
  FloatBuffer sines_;
};

}  // namespace cpu_llm
