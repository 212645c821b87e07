#pragma once

#include <vector>

#include "cpu_llm/kv_cache.h"

namespace cpu_llm {

// Causal grouped-query attention over the KV cache: several query heads share one key-value head.
class Attention {
 public:
  Attention(const ModelShape& shape, size_t positions, size_t workers);

  // `qkv` are rows of queries, keys and values, whose keys and values are already in the cache;
  // `outputs` are rows of the heads' results.
  void attend(size_t layer, const float* qkv, const Pass& pass, const KvCache& cache,
              float* outputs, Workers& workers);

 private:
  struct Head {
    const float* keys;
    const float* values;
  };
  // Adjacent queries of a chunk.
  struct Block {
    size_t chunk;
    size_t kv_head;
    size_t begin;
    size_t end;
  };
  void divide(const Pass& pass);
  // One query over the first `context` positions.
  void attend_one(const float* query, const Head& head, size_t context, float* scores,
                  float* output) const;

  ModelShape shape_;
  size_t positions_;
  FloatBuffer scores_;  // `positions` per worker
  std::vector<Block> blocks_;
};

}  // namespace cpu_llm
