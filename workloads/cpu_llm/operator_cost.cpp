#include "cpu_llm/operator_cost.h"

namespace cpu_llm {
namespace {

constexpr uint64_t kFloat = sizeof(float);

}  // namespace

OperatorCost embedding_cost(size_t rows, size_t hidden) {
  return {0, rows * (sizeof(Token) + 2 * hidden * kFloat)};
}

OperatorCost rms_norm_cost(size_t rows, size_t hidden) {
  constexpr uint64_t kFlops = 4;  // square, sum; scale, weight
  return {kFlops * rows * hidden, (2 * rows + 1) * hidden * kFloat};
}

OperatorCost add_rms_norm_cost(size_t rows, size_t hidden) {
  constexpr uint64_t kFlops = 5;
  return {kFlops * rows * hidden, (4 * rows + 1) * hidden * kFloat};
}

OperatorCost product_cost(size_t rows, size_t inputs, size_t outputs) {
  return {2 * rows * inputs * outputs, (inputs * outputs + rows * (inputs + outputs)) * kFloat};
}

OperatorCost rope_cost(const Pass& pass, const ModelShape& shape) {
  constexpr uint64_t kFlops = 3;  // per element: two multiplications and an addition
  const uint64_t rotated = pass.rows() * (shape.query_width() + shape.kv_width());
  const uint64_t table = pass.distinct_positions() * shape.head_size();  // half cosines, half sines
  return {kFlops * rotated, (2 * rotated + table) * kFloat};
}

OperatorCost kv_append_cost(const Pass& pass, const ModelShape& shape) {
  const uint64_t appended = 2 * pass.rows() * shape.kv_width();
  return {0, 2 * appended * kFloat};
}

OperatorCost attention_cost(const Pass& pass, const ModelShape& shape) {
  constexpr uint64_t kFlopsOfSoftmax = 4;  // scale, subtract the maximum, exponential, sum
  uint64_t looked_at = 0;
  uint64_t context = 0;
  for (const Chunk& chunk : pass.chunks()) {
    looked_at += chunk.added * chunk.cached + chunk.added * (chunk.added + 1) / 2;
    context += chunk.context();
  }
  const uint64_t scores = shape.own_heads() * looked_at;
  const uint64_t queries = pass.rows() * shape.query_width();
  const uint64_t cache = 2 * context * shape.kv_width();
  return {scores * (4 * shape.head_size() + kFlopsOfSoftmax) + queries,
          (2 * queries + cache) * kFloat};
}

OperatorCost silu_mul_cost(size_t rows, size_t intermediate) {
  constexpr uint64_t kFlops = 4;  // exponential, 1 +, division; times up
  return {kFlops * rows * intermediate, 3 * rows * intermediate * kFloat};
}

OperatorCost argmax_cost(size_t rows, size_t vocabulary) {
  return {0, rows * (vocabulary * kFloat + sizeof(Token))};
}

}  // namespace cpu_llm
