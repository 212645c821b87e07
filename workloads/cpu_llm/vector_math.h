#pragma once

#include <array>
#include <cstddef>
#include <cstring>

namespace cpu_llm {

// Four floats for SIMD (an extension of gcc and clang). Sums of plain floats must not be reordered,
// and are therefore vectorized less well.
using Float4 = float __attribute__((vector_size(16)));

inline Float4 load4(const float* from) {
  Float4 loaded;
  std::memcpy(&loaded, from, sizeof loaded);
  return loaded;
}

// Enough independent sums to keep a core busy, since each addition waits for its predecessor, but
// no more than there are registers.
template <size_t Rows>
inline constexpr size_t kSumsPerRow = Rows > 2 ? 2 : 4;

// One row of weights times each of `Rows` adjacent rows of inputs: the weights are loaded once.
template <size_t Rows>
std::array<float, Rows> dots(const float* weights, const float* inputs, size_t size) {
  constexpr size_t kSums = kSumsPerRow<Rows>;
  std::array<std::array<Float4, Rows>, kSums> sums = {};
  size_t done = 0;
  for (; done + 4 * kSums <= size; done += 4 * kSums) {
// Sums stay in registers only if all indices are constants.
#pragma GCC unroll 4
    for (size_t k = 0; k < kSums; ++k) {
      const Float4 weight = load4(weights + done + 4 * k);
#pragma GCC unroll 4
      for (size_t row = 0; row < Rows; ++row) {
        sums[k][row] += weight * load4(inputs + row * size + done + 4 * k);
      }
    }
  }
  std::array<float, Rows> results;
  for (size_t row = 0; row < Rows; ++row) {
    Float4 all = {};
    for (const auto& rows : sums) all += rows[row];
    results[row] = (all[0] + all[1]) + (all[2] + all[3]);
    for (size_t i = done; i < size; ++i) results[row] += weights[i] * inputs[row * size + i];
  }
  return results;
}

inline float dot(const float* a, const float* b, size_t size) { return dots<1>(a, b, size)[0]; }

inline float sum(const float* a, size_t size) {
  std::array<Float4, 4> sums = {};
  size_t done = 0;
  for (; done + 4 * sums.size() <= size; done += 4 * sums.size()) {
    for (size_t k = 0; k < sums.size(); ++k) sums[k] += load4(a + done + 4 * k);
  }
  const Float4 all = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  float result = (all[0] + all[1]) + (all[2] + all[3]);
  for (; done < size; ++done) result += a[done];
  return result;
}

// a += factor * b
inline void add_scaled(float* a, const float* b, float factor, size_t size) {
  for (size_t i = 0; i < size; ++i) a[i] += factor * b[i];
}

}  // namespace cpu_llm
