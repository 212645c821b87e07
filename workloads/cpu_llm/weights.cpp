#include "cpu_llm/weights.h"

#include <cmath>
#include <numbers>

#include "cpu_llm/random_numbers.h"

namespace cpu_llm {
namespace {

constexpr size_t kWeightsPiece = 1UL << 16U;
constexpr float kNormSpread = 0.1F;

// Draws one tensor after the other, each from its own stream.
class WeightSource {
 public:
  WeightSource(uint64_t seed, Workers& workers) : seed_(seed), workers_(workers) {}

  FloatBuffer around(float centre, float reach, size_t size) {
    FloatBuffer values(size);
    const RandomNumbers numbers(seed_, ++tensors_);
    workers_.share_range(size, kWeightsPiece, [&](size_t begin, size_t end, size_t) {
      for (size_t i = begin; i < end; ++i) values.data()[i] = centre + reach * numbers.symmetric(i);
    });
    return values;
  }

  // Outputs have the variance of the inputs: a uniform number in [-r, r] has variance r^2 / 3.
  Matrix projection(size_t rows, size_t columns) {
    const float reach = std::sqrt(3.0F / static_cast<float>(columns));
    return {rows, columns, around(0, reach, rows * columns)};
  }

  // Rows of variance 1.
  Matrix table(size_t rows, size_t columns) {
    return {rows, columns, around(0, std::numbers::sqrt3_v<float>, rows * columns)};
  }

  FloatBuffer norm(size_t size) { return around(1, kNormSpread, size); }

 private:
  uint64_t seed_;
  Workers& workers_;
  uint64_t tensors_ = 0;
};

LayerWeights random_layer(const ModelShape& shape, WeightSource& source) {
  LayerWeights layer;
  layer.attention_norm = source.norm(shape.hidden);
  layer.qkv = source.projection(shape.qkv_width(), shape.hidden);
  layer.o = source.projection(shape.hidden, shape.hidden);
  layer.feed_forward_norm = source.norm(shape.hidden);
  layer.gate_up = source.projection(2 * shape.intermediate, shape.hidden);
  layer.down = source.projection(shape.hidden, shape.intermediate);
  return layer;
}

}  // namespace

size_t weights_bytes(const ModelShape& shape) {
  const size_t attention = shape.hidden * (shape.qkv_width() + shape.hidden);
  const size_t feed_forward = 3 * shape.hidden * shape.intermediate;
  const size_t layer = attention + feed_forward + 2 * shape.hidden;
  const size_t ends = 2 * shape.vocabulary * shape.hidden + shape.hidden;
  return (shape.layers * layer + ends) * sizeof(float);
}

size_t Weights::bytes() const {
  size_t total = embedding.values.bytes() + final_norm.bytes() + lm_head.values.bytes();
  for (const LayerWeights& layer : layers) {
    total += layer.attention_norm.bytes() + layer.qkv.values.bytes() + layer.o.values.bytes() +
             layer.feed_forward_norm.bytes() + layer.gate_up.values.bytes() +
             layer.down.values.bytes();
  }
  return total;
}

Weights random_weights(const ModelShape& shape, uint64_t seed, Workers& workers) {
  WeightSource source(seed, workers);
  Weights weights;
  weights.shape = shape;
  weights.embedding = source.table(shape.vocabulary, shape.hidden);
  for (size_t layer = 0; layer < shape.layers; ++layer) {
    weights.layers.push_back(random_layer(shape, source));
  }
  weights.final_norm = source.norm(shape.hidden);
  weights.lm_head = source.projection(shape.vocabulary, shape.hidden);
  return weights;
}

}  // namespace cpu_llm
