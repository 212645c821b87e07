#include "llm/cost.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "testing/shared_captures.h"
#include "testing/temporary_folder.h"

namespace llmprof::llm {
namespace {

// New and cached tokens of each sequence.
using Lengths = std::vector<std::pair<uint64_t, uint64_t>>;

SequenceSums sums_of(const Lengths& lengths) {
  SequenceSums sums;
  for (const auto& [fresh, cached] : lengths) {
    const uint64_t keys = fresh + cached;
    ++sums.sequences;
    sums.queries += fresh;
    sums.keys += keys;
    sums.queries_squared += fresh * fresh;
    sums.queries_by_keys += fresh * keys;
  }
  return sums;
}

// Query by query: each sees the cached tokens, the new ones before it, and itself.
double counted_pairs(const Lengths& lengths) {
  double pairs = 0;
  for (const auto& [fresh, cached] : lengths) {
    for (uint64_t i = 0; i < fresh; ++i) pairs += static_cast<double>(cached + i + 1);
  }
  return pairs;
}

ModelSpec model_of(std::string_view json) {
  auto model = parse_hugging_face_config(json, "config.json");
  EXPECT_TRUE(model) << model.error().message;
  return model ? std::move(*model) : ModelSpec();
}

ModelSpec dense_model() {
  return model_of(testing::file_bytes(testing::test_data("models") / "dense_graph_config.json"));
}

CostLine attention_of(const PassCost& cost) {
  for (const CostLine& part : cost.parts) {
    if (part.name.starts_with("attention") && part.kv_bytes > 0) return part;
  }
  ADD_FAILURE() << "no attention";
  return {};
}

TEST(SequenceSums, CountPairsExactly) {
  for (const Lengths& lengths :
       std::vector<Lengths>{{{777, 0}}, {{1, 777}}, {{5, 3}, {1, 11}}, {{512, 388}, {7, 0}}}) {
    EXPECT_EQ(causal_pairs(sums_of(lengths)), counted_pairs(lengths));
  }
  // By hand: a chunk of 5 after 3 sees 4 + 5 + 6 + 7 + 8, a decode step at 11 sees 12.
  EXPECT_EQ(causal_pairs(sums_of({{5, 3}, {1, 11}})), 30 + 12);
}

TEST(SequenceSums, KnowsWhatCannotBe) {
  EXPECT_TRUE(are_possible({}));
  EXPECT_TRUE(are_possible(sums_of({{5, 3}, {1, 11}, {64, 0}})));
  EXPECT_FALSE(are_possible({2, 10, 9, 50, 50}));    // fewer keys than queries
  EXPECT_FALSE(are_possible({2, 10, 20, 49, 100}));  // two numbers with sum 10: at least 50
  EXPECT_FALSE(are_possible({2, 10, 20, 101, 200}));
  EXPECT_FALSE(are_possible({0, 1, 1, 1, 1}));
  EXPECT_FALSE(are_possible({2, 10, 20, 50, 201}));
}

// A batch of one kind costs the same as a plain pass of these sequences.
TEST(MixedPassCost, EqualsThePlainPass) {
  const ModelSpec model = dense_model();
  const MixedPass decode{{}, sums_of({{1, 777}, {1, 777}, {1, 777}})};
  const PassCost plain = pass_cost(model, ForwardPass{3, 1, 777, 1, 0}, {});
  EXPECT_EQ(mixed_pass_cost(model, decode, {}).flops(), plain.flops());
  EXPECT_EQ(mixed_pass_cost(model, decode, {}).bytes(), plain.bytes());
  const MixedPass prefill{sums_of({{777, 100}, {777, 100}}), {}};
  const PassCost two = pass_cost(model, ForwardPass{2, 777, 100, 1, 0}, {2, 1, 1});
  EXPECT_EQ(mixed_pass_cost(model, prefill, {2, 1, 1}).flops(), two.flops());
  EXPECT_EQ(mixed_pass_cost(model, prefill, {2, 1, 1}).bytes(), two.bytes());
}

// SGLang's "step[MIXED bs=2 c=1 g=1 c_sq=5 c_sk=8 c_sqsq=25 c_sqsk=40 g_sq=1 g_sk=12 ...]".
TEST(MixedPassCost, OfAMixedBatchByHand) {
  const MixedPass pass{{1, 5, 8, 25, 40}, {1, 1, 12, 1, 12}};
  EXPECT_EQ(pass.prefill, sums_of({{5, 3}}));
  EXPECT_EQ(pass.decode, sums_of({{1, 11}}));
  const PassCost cost = mixed_pass_cost(dense_model(), pass, {});
  // 4 FLOPs per pair and value: 8 layers, 32 heads of 128, 30 + 12 pairs.
  EXPECT_EQ(attention_of(cost).flops, 4.0 * 8 * 32 * 128 * 42);
  // 3 + 11 tokens read, 5 + 1 written: 8 layers, k and v, 8 heads of 128, 2 bytes.
  EXPECT_EQ(attention_of(cost).kv_bytes, 20 * 32768.0);
  // 6 tokens through the weights, 2 positions through the head.
  const double weights = 8 * (4096 * 4096.0 * 2 + 2 * 4096 * 1024.0 + 3 * 4096 * 11008.0);
  EXPECT_EQ(cost.flops() - attention_of(cost).flops, 2 * (6 * weights + 2 * 32000 * 4096.0));
}

// Drafted tokens are verified, so all need logits.
TEST(MixedPassCost, OfDraftedTokens) {
  const MixedPass verify{{}, sums_of({{4, 96}, {4, 46}})};
  EXPECT_EQ(verify.positions_with_logits(), 8U);
  const PassCost cost = mixed_pass_cost(dense_model(), verify, {});
  EXPECT_EQ(cost.parts.back().flops, 2 * 8 * 32000 * 4096.0);
}

// Four layers, the last three with a window of 16.
TEST(MixedPassCost, OfLayersWithAWindow) {
  const ModelSpec model = model_of(R"({"model_type": "qwen2", "hidden_size": 64,
    "intermediate_size": 128, "num_hidden_layers": 4, "num_attention_heads": 4,
    "num_key_value_heads": 2, "vocab_size": 100, "use_sliding_window": true, "sliding_window": 16,
    "max_window_layers": 1, "torch_dtype": "bfloat16"})");
  ASSERT_EQ(model.layers.back().window, 16U);
  ASSERT_EQ(model.layers.front().attention, AttentionKind::full);
  // Within the window: exact. At most 12 + 4 keys.
  const MixedPass inside{{}, sums_of({{1, 11}, {1, 3}})};
  EXPECT_EQ(attention_of(mixed_pass_cost(model, inside, {})).flops, 4.0 * 4 * 64 * 16);
  // Beyond: two sequences of the mean length, 1 + 99; one layer sees 200, three see 2 x 16.
  const MixedPass beyond{{}, sums_of({{1, 119}, {1, 79}})};
  EXPECT_EQ(attention_of(mixed_pass_cost(model, beyond, {})).flops, 4.0 * 64 * (200 + 3 * 32));
  // 64 values of k and v, 2 bytes: 198 cached and 2 new, three times 2 x 15 and 2.
  EXPECT_EQ(attention_of(mixed_pass_cost(model, beyond, {})).kv_bytes, 64 * 2.0 * (200 + 3 * 32));
}

// Latent attention: prompt chunks expand the cached keys and values, decode works over the latent.
TEST(MixedPassCost, OfLatentAttention) {
  const ModelSpec model = model_of(R"({"model_type": "deepseek_v2", "hidden_size": 64,
    "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 4, "vocab_size": 100, "kv_lora_rank": 32, "q_lora_rank": null,
    "qk_nope_head_dim": 16, "qk_rope_head_dim": 8, "v_head_dim": 16, "n_routed_experts": null,
    "torch_dtype": "bfloat16"})");
  ASSERT_TRUE(model.latent);
  const PassCost prefill = pass_cost(model, ForwardPass{1, 5, 3, 1, 0}, {});
  const PassCost decode = pass_cost(model, ForwardPass{1, 1, 11, 1, 0}, {});
  const PassCost mixed = mixed_pass_cost(model, {sums_of({{5, 3}}), sums_of({{1, 11}})}, {});
  EXPECT_DOUBLE_EQ(mixed.flops(), prefill.flops() + decode.flops());
  EXPECT_EQ(attention_of(mixed).kv_bytes,
            attention_of(prefill).kv_bytes + attention_of(decode).kv_bytes);
}

}  // namespace
}  // namespace llmprof::llm
