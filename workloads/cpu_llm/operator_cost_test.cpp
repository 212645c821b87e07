#include "cpu_llm/operator_cost.h"

#include <gtest/gtest.h>

#include "cpu_llm/weights.h"

namespace cpu_llm {
namespace {

// Heads of 2, keys and values of 4 per token, rows of queries, keys and values of 16.
constexpr ModelShape kShape = {
    .hidden = 8, .intermediate = 12, .layers = 2, .heads = 4, .kv_heads = 2, .vocabulary = 16};
// Two sequences, three more tokens each, after five: 6 rows.
const Pass kPass(2, 3, 5);

void expect_cost(const OperatorCost& cost, uint64_t flops, uint64_t bytes) {
  EXPECT_EQ(cost.flops, flops);
  EXPECT_EQ(cost.bytes, bytes);
}

// Calculated by hand; a float and a token take 4 bytes.
TEST(OperatorCost, OfRows) {
  expect_cost(embedding_cost(6, 8), 0, 6UL * (4 + 32 + 32));
  expect_cost(rms_norm_cost(6, 8), 192, 192 + 192 + 32);
  expect_cost(add_rms_norm_cost(6, 8), 240, 2UL * 192 + 2UL * 192 + 32);
  expect_cost(silu_mul_cost(6, 12), 288, 864);
  expect_cost(argmax_cost(2, 16), 0, 2UL * 64 + 2UL * 4);
}

TEST(OperatorCost, OfAProduct) {
  expect_cost(product_cost(6, 8, 16), 1536, 512 + 192 + 384);
  expect_cost(product_cost(1, 768, 4096), 6291456, 12582912 + 3072 + 16384);
}

// 6 rows of 4 + 2 heads of 2 are 72 elements, read and written; 3 positions of 1 cosine, 1 sine.
TEST(OperatorCost, OfRope) { expect_cost(rope_cost(kPass, kShape), 216, 288 + 288 + 24); }

// 6 rows of 4 keys and 4 values are 48 elements, read and written.
TEST(OperatorCost, OfAppendingToTheCache) {
  expect_cost(kv_append_cost(kPass, kShape), 0, 192 + 192);
}

// The three tokens see 6, 7 and 8 positions: 21, by 2 sequences and 4 heads 168 scores of 2 x 2 x 2
// FLOPs for both products and 4 for the softmax; 48 outputs are divided. Queries and outputs are 48
// elements each; 2 sequences have 8 positions of 4 keys and 4 values.
TEST(OperatorCost, OfAttention) {
  expect_cost(attention_cost(kPass, kShape), 168UL * 12 + 48, 192 + 192 + 512);
}

TEST(OperatorCost, OneTokenSeesTheWholeContext) {
  const Pass kStep(1, 1, 9);
  expect_cost(attention_cost(kStep, kShape), 4UL * 10UL * 12 + 8, 32 + 32 + 320);
}

// One sequence adds 3 tokens to 5, another one to 9: 21 + 10 positions are looked at by 4 heads;
// 4 rows; the caches have 8 + 10 positions.
TEST(OperatorCost, SequencesOfAMixedPassAreCountedOneByOne) {
  const Pass mixed({{.sequence = 0, .cached = 5, .added = 3}, {.sequence = 1, .cached = 9}});
  expect_cost(attention_cost(mixed, kShape), 4UL * 31 * 12 + 32, 128 + 128 + 576);
  expect_cost(rope_cost(mixed, kShape), 144, 192 + 192 + 32);
}

// 8 x 16 + 8 x 8 + 3 x 8 x 12 + 2 x 8 = 496 per layer; 2 tables of 16 x 8; the last norm's 8.
TEST(OperatorCost, WeightsAreCountedBeforeAndAfterTheyExist) {
  EXPECT_EQ(weights_bytes(kShape), 4UL * (2 * 496 + 256 + 8));
  Workers workers(1);
  EXPECT_EQ(random_weights(kShape, 1, workers).bytes(), weights_bytes(kShape));
}

}  // namespace
}  // namespace cpu_llm
