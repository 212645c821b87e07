#include "cpu_llm/rope.h"

#include <cmath>

namespace cpu_llm {
namespace {

constexpr double kBase = 10000;
constexpr size_t kRopeRowsAtOnce = 8;

}  // namespace

Rope::Rope(const ModelShape& shape, size_t positions)
    : shape_(shape),
      cosines_(positions * (shape.head_size() / 2)),
      sines_(positions * (shape.head_size() / 2)) {
  const size_t half = shape.head_size() / 2;
  for (size_t i = 0; i < half; ++i) {
    const double frequency =
        std::pow(kBase, -2.0 * static_cast<double>(i) / static_cast<double>(shape.head_size()));
    for (size_t position = 0; position < positions; ++position) {
      const double angle = static_cast<double>(position) * frequency;
      cosines_.data()[position * half + i] = static_cast<float>(std::cos(angle));
      sines_.data()[position * half + i] = static_cast<float>(std::sin(angle));
    }
  }
}

void Rope::rotate_head(float* head, size_t position) const {
  const size_t half = shape_.head_size() / 2;
  const float* cosines = cosines_.data() + position * half;
  const float* sines = sines_.data() + position * half;
  for (size_t i = 0; i < half; ++i) {
    const float first = head[i];
    const float second = head[i + half];
    head[i] = first * cosines[i] - second * sines[i];
    head[i + half] = second * cosines[i] + first * sines[i];
  }
}

void Rope::rotate(float* qkv, const Pass& pass, Workers& workers) const {
  workers.share_range(pass.rows(), kRopeRowsAtOnce, [&](size_t begin, size_t end, size_t) {
    for (size_t row = begin; row < end; ++row) {
      float* values = qkv + row * shape_.qkv_width();
      for (size_t head = 0; head < shape_.own_heads() + shape_.own_kv_heads(); ++head) {
        rotate_head(values + head * shape_.head_size(), pass.row(row).position);
      }
    }
  });
}

}  // namespace cpu_llm
