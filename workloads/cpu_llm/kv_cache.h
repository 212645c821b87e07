#pragma once

#include <vector>

#include "cpu_llm/float_buffer.h"
#include "cpu_llm/operator_cost.h"
#include "cpu_llm/workers.h"

namespace cpu_llm {

// The keys and values of all tokens so far. Those of one head are ordered by position, because
// attention reads them in that order.
class KvCache {
 public:
  KvCache(const ModelShape& shape, size_t sequences, size_t positions);

  // Copies the keys and values from rows of queries, keys and values.
  void append(size_t layer, const float* qkv, const Pass& pass, Workers& workers);

  [[nodiscard]] const float* keys(size_t layer, size_t sequence, size_t kv_head) const {
    return layers_[layer].keys.data() + offset(sequence, kv_head, 0);
  }
  [[nodiscard]] const float* values(size_t layer, size_t sequence, size_t kv_head) const {
    return layers_[layer].values.data() + offset(sequence, kv_head, 0);
  }
  [[nodiscard]] size_t positions() const { return positions_; }

 private:
  struct Layer {
    FloatBuffer keys;
    FloatBuffer values;
  };

  [[nodiscard]] size_t offset(size_t sequence, size_t kv_head, size_t position) const {
    return ((sequence * shape_.own_kv_heads() + kv_head) * positions_ + position) *
           shape_.head_size();
  }

  ModelShape shape_;
  size_t positions_;
  std::vector<Layer> layers_;
};

}  // namespace cpu_llm
