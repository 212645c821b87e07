#pragma once

#include <cstddef>
#include <cstdint>

namespace cpu_llm {

// A Llama-shaped decoder; all numbers are counts of f32 elements, heads, layers or tokens.
struct ModelShape {
  size_t hidden = 768;
  size_t intermediate = 2048;
  size_t layers = 8;
  size_t heads = 12;
  size_t kv_heads = 4;
  size_t vocabulary = 8192;

  [[nodiscard]] size_t head_size() const { return hidden / heads; }
  [[nodiscard]] size_t kv_width() const { return kv_heads * head_size(); }
  // The width of the fused projection: queries, then keys, then values.
  [[nodiscard]] size_t qkv_width() const { return hidden + 2 * kv_width(); }
  [[nodiscard]] size_t heads_per_kv_head() const { return heads / kv_heads; }
};

using Token = int32_t;

}  // namespace cpu_llm
