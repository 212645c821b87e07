#include "cpu_llm/attention.h"

#include <algorithm>
#include <cmath>

#include "cpu_llm/vector_math.h"

namespace cpu_llm {
namespace {

// Adjacent queries read the same keys and values, which then stay in the CPU's cache.
constexpr size_t kQueriesAtOnce = 16;

// exp(score - maximum) in place; returns their sum.
float exponentials(float* scores, size_t size) {
  const float maximum = *std::max_element(scores, scores + size);
  float total = 0;
  for (size_t i = 0; i < size; ++i) {
    scores[i] = std::exp(scores[i] - maximum);
    total += scores[i];
  }
  return total;
}

}  // namespace

Attention::Attention(const ModelShape& shape, size_t positions, size_t workers)
    : shape_(shape), positions_(positions), scores_(positions * workers) {}

void Attention::attend_one(const float* query, const Head& head, size_t context, float* scores,
                           float* output) const {
  const size_t size = shape_.head_size();
  const float scale = 1.0F / std::sqrt(static_cast<float>(size));
  for (size_t i = 0; i < context; ++i) scores[i] = scale * dot(query, head.keys + i * size, size);
  const float total = exponentials(scores, context);
  std::fill_n(output, size, 0.0F);
  for (size_t i = 0; i < context; ++i) add_scaled(output, head.values + i * size, scores[i], size);
  for (size_t i = 0; i < size; ++i) output[i] /= total;
}

void Attention::divide(const Pass& pass) {
  blocks_.clear();
  for (size_t chunk = 0; chunk < pass.chunks().size(); ++chunk) {
    const size_t added = pass.chunks()[chunk].added;
    for (size_t kv_head = 0; kv_head < shape_.own_kv_heads(); ++kv_head) {
      for (size_t begin = 0; begin < added; begin += kQueriesAtOnce) {
        blocks_.push_back({chunk, kv_head, begin, std::min(begin + kQueriesAtOnce, added)});
      }
    }
  }
}

void Attention::attend(size_t layer, const float* qkv, const Pass& pass, const KvCache& cache,
                       float* outputs, Workers& workers) {
  divide(pass);
  const size_t group = shape_.heads_per_kv_head();
  workers.share(blocks_.size(), [&](size_t index, size_t worker) {
    const Block& block = blocks_[index];
    const Chunk& chunk = pass.chunks()[block.chunk];
    const Head head = {cache.keys(layer, chunk.sequence, block.kv_head),
                       cache.values(layer, chunk.sequence, block.kv_head)};
    for (size_t added = block.begin; added < block.end; ++added) {
      const size_t row = pass.first_row(block.chunk) + added;
      for (size_t member = 0; member < group; ++member) {
        const size_t at = (block.kv_head * group + member) * shape_.head_size();
        attend_one(qkv + row * shape_.qkv_width() + at, head, chunk.cached + added + 1,
                   scores_.data() + worker * positions_, outputs + row * shape_.query_width() + at);
      }
    }
  });
}

}  // namespace cpu_llm
