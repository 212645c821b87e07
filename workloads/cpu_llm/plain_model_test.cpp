#include "cpu_llm/plain_model.h"

#include <cmath>
#include <complex>

namespace cpu_llm::testing {
namespace {

using Vector = std::vector<double>;

Vector times(const Matrix& matrix, const Vector& input) {
  Vector output(matrix.rows, 0.0);
  for (size_t i = 0; i < matrix.rows; ++i) {
    for (size_t j = 0; j < matrix.columns; ++j) {
      output[i] += static_cast<double>(matrix.values.data()[i * matrix.columns + j]) * input[j];
    }
  }
  return output;
}

Vector normed(const Vector& input, const FloatBuffer& weight) {
  double squares = 0;
  for (const double value : input) squares += value * value;
  const double root = std::sqrt(squares / static_cast<double>(input.size()) + 1e-5);
  Vector output;
  for (size_t i = 0; i < input.size(); ++i) {
    output.push_back(input[i] / root * static_cast<double>(weight.data()[i]));
  }
  return output;
}

Vector plus(Vector a, const Vector& b) {
  for (size_t i = 0; i < a.size(); ++i) a[i] += b[i];
  return a;
}

Vector part(const Vector& from, size_t begin, size_t size) {
  const auto first = from.begin() + static_cast<std::ptrdiff_t>(begin);
  return {first, first + static_cast<std::ptrdiff_t>(size)};
}

// Each pair is a complex number that is rotated.
Vector turned(const Vector& head, size_t position) {
  const size_t half = head.size() / 2;
  Vector output(head.size());
  for (size_t i = 0; i < half; ++i) {
    const double exponent = 2.0 * static_cast<double>(i) / static_cast<double>(head.size());
    const double angle = static_cast<double>(position) / std::pow(10000.0, exponent);
    const auto pair = std::complex(head[i], head[half + i]) * std::polar(1.0, angle);
    output[i] = pair.real();
    output[half + i] = pair.imag();
  }
  return output;
}

double inner(const Vector& a, const Vector& b) {
  double total = 0;
  for (size_t i = 0; i < a.size(); ++i) total += a[i] * b[i];
  return total;
}

// Softmax without the usual shift: in double precision these scores do not need it.
Vector attended(const Vector& query, const std::vector<Vector>& keys,
                const std::vector<Vector>& values, size_t last) {
  Vector output(query.size(), 0.0);
  double total = 0;
  for (size_t i = 0; i <= last; ++i) {
    const double weight =
        std::exp(inner(query, keys[i]) / std::sqrt(static_cast<double>(query.size())));
    total += weight;
    for (size_t j = 0; j < output.size(); ++j) output[j] += weight * values[i][j];
  }
  for (double& value : output) value /= total;
  return output;
}

// Attention at all positions: the outputs of the heads.
std::vector<Vector> attention_of(const ModelShape& shape, const std::vector<Vector>& qkv) {
  const size_t size = shape.head_size();
  std::vector<Vector> outputs(qkv.size());
  for (size_t head = 0; head < shape.heads; ++head) {
    const size_t kv_head = head * shape.kv_heads / shape.heads;
    std::vector<Vector> keys;
    std::vector<Vector> values;
    for (size_t i = 0; i < qkv.size(); ++i) {
      keys.push_back(turned(part(qkv[i], shape.hidden + kv_head * size, size), i));
      values.push_back(part(qkv[i], shape.hidden + (shape.kv_heads + kv_head) * size, size));
    }
    for (size_t i = 0; i < qkv.size(); ++i) {
      const Vector output = attended(turned(part(qkv[i], head * size, size), i), keys, values, i);
      outputs[i].insert(outputs[i].end(), output.begin(), output.end());
    }
  }
  return outputs;
}

Vector fed_forward(const LayerWeights& layer, const Vector& input, size_t intermediate) {
  const Vector gate_up = times(layer.gate_up, input);
  Vector activated;
  for (size_t i = 0; i < intermediate; ++i) {
    activated.push_back(gate_up[i] * gate_up[intermediate + i] / (1 + std::exp(-gate_up[i])));
  }
  return times(layer.down, activated);
}

}  // namespace

std::vector<double> plain_logits(const Weights& weights, std::span<const Token> tokens) {
  std::vector<Vector> stream;
  for (const Token token : tokens) {
    const float* row = weights.embedding.row(static_cast<size_t>(token));
    stream.emplace_back(row, row + weights.shape.hidden);
  }
  for (const LayerWeights& layer : weights.layers) {
    std::vector<Vector> qkv;
    qkv.reserve(stream.size());
    for (const Vector& row : stream)
      qkv.push_back(times(layer.qkv, normed(row, layer.attention_norm)));
    const std::vector<Vector> heads = attention_of(weights.shape, qkv);
    for (size_t i = 0; i < stream.size(); ++i) {
      stream[i] = plus(stream[i], times(layer.o, heads[i]));
      stream[i] = plus(stream[i], fed_forward(layer, normed(stream[i], layer.feed_forward_norm),
                                              weights.shape.intermediate));
    }
  }
  return times(weights.lm_head, normed(stream.back(), weights.final_norm));
}

}  // namespace cpu_llm::testing
