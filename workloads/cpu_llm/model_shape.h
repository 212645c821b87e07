#pragma once

#include <cstddef>
#include <cstdint>

namespace cpu_llm {

// A Llama-shaped decoder; all numbers are counts of f32 elements, heads, layers or tokens. Its
// heads, feed-forward columns and vocabulary may be split into equal parts, one for each rank of a
// job.
struct ModelShape {
  size_t hidden = 768;
  size_t intermediate = 2048;
  size_t layers = 8;
  size_t heads = 12;
  size_t kv_heads = 4;
  size_t vocabulary = 8192;
  size_t parts = 1;

  [[nodiscard]] size_t head_size() const { return hidden / heads; }
  [[nodiscard]] size_t heads_per_kv_head() const { return heads / kv_heads; }

  // Of one part.
  [[nodiscard]] size_t own_heads() const { return heads / parts; }
  [[nodiscard]] size_t own_kv_heads() const { return kv_heads / parts; }
  [[nodiscard]] size_t query_width() const { return own_heads() * head_size(); }
  [[nodiscard]] size_t kv_width() const { return own_kv_heads() * head_size(); }
  // The width of the fused projection: queries, then keys, then values.
  [[nodiscard]] size_t qkv_width() const { return query_width() + 2 * kv_width(); }
  [[nodiscard]] size_t own_intermediate() const { return intermediate / parts; }
  [[nodiscard]] size_t own_vocabulary() const { return vocabulary / parts; }
};

using Token = int32_t;

}  // namespace cpu_llm
