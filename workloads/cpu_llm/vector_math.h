#pragma once

#include <cstddef>

namespace cpu_llm {

// As many sums at once as keep a core's multipliers busy: each waits for its predecessor.
inline constexpr size_t kLanes = 16;

inline float sum_of_lanes(float (&lanes)[kLanes]) {
  for (size_t half = kLanes / 2; half > 0; half /= 2) {
    for (size_t lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
  }
  return lanes[0];
}

inline float dot(const float* a, const float* b, size_t size) {
  float lanes[kLanes] = {};
  size_t i = 0;
  for (; i + kLanes <= size; i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += a[i + lane] * b[i + lane];
  }
  float result = sum_of_lanes(lanes);
  for (; i < size; ++i) result += a[i] * b[i];
  return result;
}

inline float sum(const float* a, size_t size) {
  float lanes[kLanes] = {};
  size_t i = 0;
  for (; i + kLanes <= size; i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += a[i + lane];
  }
  float result = sum_of_lanes(lanes);
  for (; i < size; ++i) result += a[i];
  return result;
}

// a += factor * b
inline void add_scaled(float* a, const float* b, float factor, size_t size) {
  for (size_t i = 0; i < size; ++i) a[i] += factor * b[i];
}

}  // namespace cpu_llm
