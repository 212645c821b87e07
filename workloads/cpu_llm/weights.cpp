#include "cpu_llm/weights.h"

#include <cmath>
#include <initializer_list>
#include <numbers>

#include "cpu_llm/random_numbers.h"

namespace cpu_llm {
namespace {

constexpr size_t kWeightsPiece = 1UL << 16U;
constexpr float kNormSpread = 0.1F;

// Rows or columns of a whole matrix.
struct Stretch {
  size_t begin;
  size_t count;
};

Stretch part_of(size_t whole, size_t part, size_t parts, size_t offset = 0) {
  return {offset + part * (whole / parts), whole / parts};
}

// Draws one tensor after the other, each from its own stream. A number depends on its place in the
// whole tensor alone.
class WeightSource {
 public:
  WeightSource(uint64_t seed, Workers& workers) : seed_(seed), workers_(workers) {}

  // Outputs have the variance of the inputs: a uniform number in [-r, r] has variance r^2 / 3.
  Matrix projection(std::initializer_list<Stretch> rows, Stretch columns, size_t inputs) {
    const float reach = std::sqrt(3.0F / static_cast<float>(inputs));
    return drawn(rows, columns, inputs, {0, reach});
  }

  // Rows of variance 1.
  Matrix table(size_t rows, size_t columns) {
    return drawn({{0, rows}}, {0, columns}, columns, {0, std::numbers::sqrt3_v<float>});
  }

  FloatBuffer norm(size_t size) {
    return drawn({{0, 1}}, {0, size}, size, {1, kNormSpread}).values;
  }

 private:
  struct Range {
    float center;
    float reach;
  };

  // `width` is that of the whole matrix.
  Matrix drawn(std::initializer_list<Stretch> rows, Stretch columns, size_t width, Range range) {
    size_t count = 0;
    for (const Stretch& stretch : rows) count += stretch.count;
    Matrix matrix = {count, columns.count, FloatBuffer(count * columns.count)};
    const RandomNumbers numbers(seed_, ++tensors_);
    const size_t piece = 1 + kWeightsPiece / columns.count;
    float* to = matrix.values.data();
    for (const Stretch& stretch : rows) {
      workers_.share_range(stretch.count, piece, [&](size_t begin, size_t end, size_t) {
        for (size_t row = begin; row < end; ++row) {
          const size_t from = (stretch.begin + row) * width + columns.begin;
          for (size_t i = 0; i < columns.count; ++i) {
            to[row * columns.count + i] = range.center + range.reach * numbers.symmetric(from + i);
          }
        }
      });
      to += stretch.count * columns.count;
    }
    return matrix;
  }

  uint64_t seed_;
  Workers& workers_;
  uint64_t tensors_ = 0;
};

LayerWeights random_layer(const ModelShape& shape, WeightSource& source, size_t part) {
  const size_t hidden = shape.hidden;
  const size_t keys = shape.kv_heads * shape.head_size();
  const size_t inner = shape.intermediate;
  const auto own = [&](size_t whole, size_t offset = 0) {
    return part_of(whole, part, shape.parts, offset);
  };
  const Stretch all = {0, hidden};
  LayerWeights layer;
  layer.attention_norm = source.norm(hidden);
  layer.qkv =
      source.projection({own(hidden), own(keys, hidden), own(keys, hidden + keys)}, all, hidden);
  layer.o = source.projection({all}, own(hidden), hidden);
  layer.feed_forward_norm = source.norm(hidden);
  layer.gate_up = source.projection({own(inner), own(inner, inner)}, all, hidden);
  layer.down = source.projection({all}, own(inner), inner);
  return layer;
}

}  // namespace

size_t weights_bytes(const ModelShape& shape) {
  const size_t attention = shape.hidden * (shape.qkv_width() + shape.query_width());
  const size_t feed_forward = 3 * shape.hidden * shape.own_intermediate();
  const size_t layer = attention + feed_forward + 2 * shape.hidden;
  const size_t ends = (shape.vocabulary + shape.own_vocabulary() + 1) * shape.hidden;
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

Weights random_weights(const ModelShape& shape, uint64_t seed, Workers& workers, size_t part) {
  WeightSource source(seed, workers);
  Weights weights;
  weights.shape = shape;
  weights.embedding = source.table(shape.vocabulary, shape.hidden);
  for (size_t layer = 0; layer < shape.layers; ++layer) {
    weights.layers.push_back(random_layer(shape, source, part));
  }
  weights.final_norm = source.norm(shape.hidden);
  weights.lm_head = source.projection({part_of(shape.vocabulary, part, shape.parts)},
                                      {0, shape.hidden}, shape.hidden);
  return weights;
}

}  // namespace cpu_llm
