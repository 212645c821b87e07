#include "cpu_llm/rms_norm.h"

#include <cmath>

#include "cpu_llm/vector_math.h"

namespace cpu_llm {
namespace {

constexpr float kEpsilon = 1e-5F;
constexpr size_t kNormRowsAtOnce = 8;

void norm_row(const float* row, const FloatBuffer& weight, float* normed) {
  const size_t size = weight.size();
  const float mean = dot(row, row, size) / static_cast<float>(size);
  const float scale = 1.0F / std::sqrt(mean + kEpsilon);
  for (size_t i = 0; i < size; ++i) normed[i] = row[i] * scale * weight.data()[i];
}

}  // namespace

void rms_norm(const ResidualRows& residual, const FloatBuffer& weight, float* normed,
              Workers& workers) {
  workers.share_range(residual.count, kNormRowsAtOnce, [&](size_t begin, size_t end, size_t) {
    for (size_t row = begin; row < end; ++row) {
      norm_row(residual.values + row * weight.size(), weight, normed + row * weight.size());
    }
  });
}

void add_rms_norm(const ResidualRows& residual, const float* added, const FloatBuffer& weight,
                  float* normed, Workers& workers) {
  workers.share_range(residual.count, kNormRowsAtOnce, [&](size_t begin, size_t end, size_t) {
    for (size_t row = begin; row < end; ++row) {
      float* values = residual.values + row * weight.size();
      add_scaled(values, added + row * weight.size(), 1, weight.size());
      norm_row(values, weight, normed + row * weight.size());
    }
  });
}

}  // namespace cpu_llm
