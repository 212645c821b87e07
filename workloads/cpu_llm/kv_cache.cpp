#include "cpu_llm/kv_cache.h"

#include <algorithm>

namespace cpu_llm {
namespace {

constexpr size_t kCacheRowsAtOnce = 16;

}  // namespace

KvCache::KvCache(const ModelShape& shape, size_t sequences, size_t positions)
    : shape_(shape), positions_(positions) {
  const size_t size = sequences * positions * shape.kv_width();
  for (size_t layer = 0; layer < shape.layers; ++layer) {
    layers_.push_back({FloatBuffer(size), FloatBuffer(size)});
  }
}

void KvCache::append(size_t layer, const float* qkv, const Pass& pass, Workers& workers) {
  Layer& cached = layers_[layer];
  workers.share_range(pass.rows(), kCacheRowsAtOnce, [&](size_t begin, size_t end, size_t) {
    for (size_t row = begin; row < end; ++row) {
      const float* keys = qkv + row * shape_.qkv_width() + shape_.query_width();
      const float* values = keys + shape_.kv_width();
      for (size_t head = 0; head < shape_.own_kv_heads(); ++head) {
        const size_t to = offset(pass.row(row).sequence, head, pass.row(row).position);
        const size_t from = head * shape_.head_size();
        std::copy_n(keys + from, shape_.head_size(), cached.keys.data() + to);
        std::copy_n(values + from, shape_.head_size(), cached.values.data() + to);
      }
    }
  });
}

}  // namespace cpu_llm
