#pragma once

#include <array>
#include <cstddef>
#include <cstring>

namespace cpu_llm {

// Four floats that are computed with at once (an extension of gcc and clang). Sums of plain floats
// may not be reordered, and are not vectorised as well.
using Float4 = float __attribute__((vector_size(16)));

// As many sums at once as keep a core busy: each waits for its predecessor.
inline constexpr size_t kSums = 4;
inline constexpr size_t kFloatsAtOnce = 4 * kSums;

inline Float4 load4(const float* from) {
  Float4 loaded;
  std::memcpy(&loaded, from, sizeof loaded);
  return loaded;
}

inline float total(const std::array<Float4, kSums>& sums) {
  const Float4 all = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  return (all[0] + all[1]) + (all[2] + all[3]);
}

inline float dot(const float* a, const float* b, size_t size) {
  std::array<Float4, kSums> sums = {};
  size_t i = 0;
  for (; i + kFloatsAtOnce <= size; i += kFloatsAtOnce) {
    for (size_t k = 0; k < kSums; ++k) sums[k] += load4(a + i + 4 * k) * load4(b + i + 4 * k);
  }
  float result = total(sums);
  for (; i < size; ++i) result += a[i] * b[i];
  return result;
}

inline float sum(const float* a, size_t size) {
  std::array<Float4, kSums> sums = {};
  size_t i = 0;
  for (; i + kFloatsAtOnce <= size; i += kFloatsAtOnce) {
    for (size_t k = 0; k < kSums; ++k) sums[k] += load4(a + i + 4 * k);
  }
  float result = total(sums);
  for (; i < size; ++i) result += a[i];
  return result;
}

// a += factor * b
inline void add_scaled(float* a, const float* b, float factor, size_t size) {
  for (size_t i = 0; i < size; ++i) a[i] += factor * b[i];
}

}  // namespace cpu_llm
