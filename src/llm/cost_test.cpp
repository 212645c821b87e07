#include "llm/cost.h"

#include <gtest/gtest.h>

#include <cmath>

#include "testing/shared_captures.h"
#include "testing/temporary_folder.h"

namespace llmprof::llm {
namespace {

ModelSpec parsed(std::string_view json) {
  auto model = parse_hugging_face_config(json, "config.json");
  EXPECT_TRUE(model) << model.error().message;
  return model ? std::move(*model) : ModelSpec();
}

ModelSpec dense_graph() {
  return parsed(testing::file_bytes(testing::test_data("models") / "dense_graph_config.json"));
}

const CostLine& part(const PassCost& cost, std::string_view name) {
  for (const CostLine& item : cost.parts) {
    if (item.name == name) return item;
  }
  ADD_FAILURE() << "no part " << name;
  static const CostLine none;
  return none;
}

constexpr ForwardPass kPrefill777{1, 777, 0, 1, 0};
constexpr ForwardPass kDecodeAt777{1, 1, 777, 1, 0};

// The model of the capture h200-dense-graph, weight by weight.
constexpr double kHidden = 4096;
constexpr double kAttention = 4096 * 4096.0 + 2 * 4096 * 1024.0 + 4096 * 4096.0;  // q, k + v, o
constexpr double kFeedForward = 3 * 4096 * 11008.0;
constexpr double kHead = 32000 * 4096.0;

// The recorded program has no separate final norm (it reuses the first layer's) and states
// 1,679,884,288 parameters; Llama has one of 4,096.
TEST(Cost, CountsTheDenseModelExactly) {
  EXPECT_EQ(kAttention, 41943040);
  EXPECT_EQ(kFeedForward, 135266304);
  // Embedding and head, 8 layers, 2 norms in each, 1 at the end.
  EXPECT_EQ(2 * kHead + 8 * (kAttention + kFeedForward) + 17 * kHidden, 1'679'884'288.0 + 4096);
  EXPECT_EQ(parameter_count(dense_graph()), 1'679'884'288U + 4096U);
  EXPECT_EQ(active_parameter_count(dense_graph()), 1'679'884'288U + 4096U - 131'072'000U);
  EXPECT_EQ(weight_bytes(dense_graph()), 2 * (1'679'884'288.0 + 4096));
  // Keys and values, 8 layers, 8 heads of 128, 2 bytes.
  EXPECT_EQ(kv_bytes_per_token(dense_graph()), 2 * 8 * 8 * 128 * 2);
}

TEST(Cost, PrefillOfTheDenseModel) {
  const PassCost cost = pass_cost(dense_graph(), kPrefill777, {});
  // 2 FLOPs per weight and token: 2 x 777 x 8 x 177,209,344 = 2.20307e12; the head for one
  // position: 2.62e8; attention 4 x 8 layers x 32 heads x 128 x 777^2 / 2 (causal) = 3.9566e10.
  const double by_hand =
      2.0 * 777 * 8 * (kAttention + kFeedForward) + 2 * kHead + 4.0 * 8 * 32 * 128 * 777 * 777 / 2;
  EXPECT_NEAR(by_hand, 2.24290e12, 0.0005e12);
  EXPECT_NEAR(cost.flops(), by_hand, 0.001 * by_hand);
  // Exactly: every query sees itself and all previous tokens, 777 x 778 / 2 pairs.
  EXPECT_EQ(part(cost, "attention").flops, 4.0 * 8 * 32 * 128 * (777.0 * 778 / 2));
  // Bytes: all weights once, except the embedding (777 rows); the cache is written.
  const double bytes = 2 * (8 * (kAttention + kFeedForward) + 17 * kHidden + kHead) +
                       2 * 777 * kHidden + 777 * 32768.0;
  EXPECT_EQ(cost.bytes(), bytes);
}

TEST(Cost, DecodeStepOfTheDenseModel) {
  const PassCost cost = pass_cost(dense_graph(), kDecodeAt777, {});
  // Weights without the embedding: 1,548,816,384 x 2 bytes = 3.0976e9; cache of 777 tokens, 8
  // layers, k and v, 8 heads of 128, 2 bytes: 777 x 32,768 = 2.546e7.
  const double by_hand =
      2 * (8 * (kAttention + kFeedForward) + 16 * kHidden + kHead) + 777.0 * 2 * 8 * 8 * 128 * 2;
  EXPECT_NEAR(by_hand, 3.12295e9, 0.0005e9);
  EXPECT_NEAR(cost.bytes(), by_hand, 0.0001 * by_hand);
  EXPECT_EQ(part(cost, "attention").kv_bytes, 778 * 32768.0);  // 777 read, 1 written
  const double flops = 2 * (8 * (kAttention + kFeedForward) + kHead) + 4.0 * 8 * 32 * 128 * 778;
  EXPECT_EQ(cost.flops(), flops);
}

TEST(Cost, BatchMultipliesTokensAndCacheNotWeights) {
  const PassCost one = pass_cost(dense_graph(), kDecodeAt777, {});
  const PassCost eight = pass_cost(dense_graph(), {8, 1, 777, 1, 0}, {});
  EXPECT_EQ(eight.flops(), 8 * one.flops());
  EXPECT_EQ(part(eight, "attention").kv_bytes, 8 * part(one, "attention").kv_bytes);
  EXPECT_EQ(part(eight, "feed-forward").weight_bytes, part(one, "feed-forward").weight_bytes);
}

// On each of two GPUs: half the heads, half the columns, half the vocabulary, and all norms.
TEST(Cost, TensorParallelHalves) {
  const PassCost cost = pass_cost(dense_graph(), kDecodeAt777, {2, 1, 1});
  EXPECT_EQ(part(cost, "q, k, v, o projections").weight_bytes, 2 * 8 * kAttention / 2);
  EXPECT_EQ(part(cost, "feed-forward").flops, 2 * 8 * kFeedForward / 2);
  EXPECT_EQ(part(cost, "attention").kv_bytes, 778 * 32768.0 / 2);  // 4 of 8 kv heads
  EXPECT_EQ(part(cost, "head").weight_bytes, kHead);               // half of it, 2 bytes each
  EXPECT_EQ(part(cost, "norms").weight_bytes, 17 * kHidden * 2);
}

// 16 GPUs for 8 kv heads: each GPU holds a complete head, so each head exists twice.
TEST(Cost, KeyValueHeadsAreReplicated) {
  const PassCost cost = pass_cost(dense_graph(), kDecodeAt777, {16, 1, 1});
  EXPECT_EQ(part(cost, "attention").kv_bytes, 778 * 32768.0 / 8);
  // q and o: 2 of 32 heads; k and v: 1 head each.
  EXPECT_EQ(part(cost, "q, k, v, o projections").weight_bytes,
            2 * 8 * (2 * 4096 * 256.0 + 2 * 4096 * 128.0));
  EXPECT_EQ(part(cost, "attention").flops, 4.0 * 8 * 2 * 128 * 778);
}

TEST(Cost, PipelineStagesShareTheLayers) {
  const PassCost one = pass_cost(dense_graph(), kDecodeAt777, {});
  const PassCost four = pass_cost(dense_graph(), kDecodeAt777, {1, 4, 1});
  EXPECT_DOUBLE_EQ(four.flops(), one.flops() / 4);
  EXPECT_DOUBLE_EQ(four.bytes(), one.bytes() / 4);
}

// 4 layers, the first dense; 8 experts of 64, 2 per token, and 1 shared: easy to check by hand.
constexpr std::string_view kMixture = R"({"model_type": "deepseek_v2", "hidden_size": 100,
  "intermediate_size": 300, "moe_intermediate_size": 64, "num_hidden_layers": 4,
  "num_attention_heads": 10, "num_key_value_heads": 10, "vocab_size": 1000, "use_mla": false,
  "n_routed_experts": 8, "n_shared_experts": 1, "num_experts_per_tok": 2,
  "first_k_dense_replace": 1, "tie_word_embeddings": false, "torch_dtype": "bfloat16"})";
constexpr double kExpert = 3 * 100 * 64;

TEST(Cost, MixtureOfExperts) {
  const ModelSpec model = parsed(kMixture);
  // Embedding and head; 4 attentions of 4 x 100^2; one dense layer; 3 with 8 + 1 experts and a
  // router of 8 x 100; 9 norms of 100.
  EXPECT_EQ(parameter_count(model),
            2 * 100'000U + 4 * 40'000U + 3 * 100 * 300U + 3 * (9 * 19'200U + 800U) + 900U);
  EXPECT_EQ(active_parameter_count(model),
            100'000U + 4 * 40'000U + 3 * 100 * 300U + 3 * (3 * 19'200U + 800U) + 900U);

  const PassCost one = pass_cost(model, {1, 1, 10, 1, 0}, {});
  EXPECT_DOUBLE_EQ(part(one, "routed experts").weight_bytes, 3 * 2 * kExpert * 2);  // exactly k
  EXPECT_DOUBLE_EQ(part(one, "routed experts").flops, 2 * 3 * 2 * kExpert);
  EXPECT_DOUBLE_EQ(part(one, "shared experts").weight_bytes, 3 * kExpert * 2);
  EXPECT_DOUBLE_EQ(part(one, "router").flops, 2 * 3 * 800.0);
  EXPECT_DOUBLE_EQ(part(one, "feed-forward").flops, 2 * 90'000.0);

  // Four tokens miss an expert with probability (6/8)^4 = 0.31640625: 8 x 0.68359375 = 5.46875.
  const PassCost four = pass_cost(model, {4, 1, 10, 1, 0}, {});
  EXPECT_DOUBLE_EQ(part(four, "routed experts").weight_bytes, 3 * 5.46875 * kExpert * 2);
  EXPECT_DOUBLE_EQ(part(four, "routed experts").flops, 4 * 2 * 3 * 2 * kExpert);
}

TEST(Cost, ExpertsAreSpreadOverEpOrTp) {
  const ModelSpec model = parsed(kMixture);
  const ForwardPass pass{4, 1, 10, 1, 0};
  const double whole = 3 * 5.46875 * kExpert * 2;
  EXPECT_DOUBLE_EQ(part(pass_cost(model, pass, {2, 1, 1}), "routed experts").weight_bytes,
                   whole / 2);
  EXPECT_DOUBLE_EQ(part(pass_cost(model, pass, {2, 1, 2}), "routed experts").weight_bytes,
                   whole / 2);
  // Two replicas of the rest with 4 tokens each: 8 tokens reach the experts; this GPU has half.
  const CostLine apart = part(pass_cost(model, pass, {1, 1, 2}), "routed experts");
  EXPECT_DOUBLE_EQ(apart.weight_bytes, 3 * 8 * (1 - std::pow(0.75, 8)) / 2 * kExpert * 2);
  EXPECT_DOUBLE_EQ(apart.flops, 8 * 2 * 3 * 2 * kExpert / 2);
}

// DeepSeek's attention in miniature: 2 heads, queries through 24, latent of 16, keys of 8 + 4,
// values of 6.
constexpr std::string_view kLatent = R"({"model_type": "deepseek_v3", "hidden_size": 32,
  "intermediate_size": 50, "num_hidden_layers": 3, "num_attention_heads": 2, "vocab_size": 100,
  "q_lora_rank": 24, "kv_lora_rank": 16, "qk_nope_head_dim": 8, "qk_rope_head_dim": 4,
  "v_head_dim": 6, "dtype": "bfloat16"})";

TEST(Cost, LatentAttention) {
  const ModelSpec model = parsed(kLatent);
  // q: 32 x 24 + 24 x 2 x 12; latent and rope key: 32 x 20; expansion: 16 x 2 x 14; o: 2 x 6 x 32.
  const double weights = 768 + 576 + 640 + 448 + 384;
  const double norms = 2 * 32 + 24 + 16;
  EXPECT_EQ(parameter_count(model),
            static_cast<uint64_t>(2 * 3200 + 32 + 3 * (weights + norms + 3 * 32 * 50)));
  EXPECT_EQ(kv_bytes_per_token(model), 3 * (16 + 4) * 2);
  EXPECT_EQ(kv_bytes_per_sequence(model, 100), 100 * 3 * (16 + 4) * 2);

  // One token at context 9: keys and queries meet in the latent (16 + 4), values too (16).
  const PassCost decode = pass_cost(model, {1, 1, 9, 1, 0}, {});
  EXPECT_EQ(part(decode, "attention (over the latent)").flops, 3 * 2 * 2 * (20 + 16) * 10.0);
  EXPECT_EQ(part(decode, "attention (over the latent)").kv_bytes, 3 * 20 * 2 * 10.0);
  EXPECT_EQ(part(decode, "attention projections (latent)").flops, 3 * 2 * weights);

  // A prompt of 5: expanded to keys of 12 and values of 6; 5 x 6 / 2 pairs.
  const PassCost prefill = pass_cost(model, {1, 5, 0, 1, 0}, {});
  EXPECT_EQ(part(prefill, "attention").flops, 3 * 2 * 2 * (12 + 6) * 15.0);
  // Five more tokens expand the cached five again.
  const PassCost chunk = pass_cost(model, {1, 5, 5, 1, 0}, {});
  EXPECT_EQ(part(chunk, "attention projections (latent)").flops, 3 * 2 * (5 * weights + 5 * 448));
  // Two GPUs: each holds the entire latent, and half the heads.
  const PassCost two = pass_cost(model, {1, 1, 9, 1, 0}, {2, 1, 1});
  EXPECT_EQ(part(two, "attention (over the latent)").kv_bytes, 3 * 20 * 2 * 10.0);
  EXPECT_EQ(part(two, "attention projections (latent)").weight_bytes,
            3 * 2 * (768 + 576 / 2 + 640 + 448 / 2 + 384 / 2));
}

// 4 layers with 1 head of 8; windows of 6 in layers 0 and 2 (gpt-oss alternates like this).
constexpr std::string_view kSliding = R"({"model_type": "gemma2", "hidden_size": 8,
  "intermediate_size": 16, "num_hidden_layers": 4, "num_attention_heads": 1,
  "num_key_value_heads": 1, "head_dim": 8, "vocab_size": 10, "sliding_window": 6,
  "dtype": "float16"})";

TEST(Cost, SlidingWindow) {
  const ModelSpec model = parsed(kSliding);
  // A prompt of 10: 10 x 11 / 2 = 55 pairs, in a window 1 + ... + 6 + 4 x 6 = 45.
  const PassCost prefill = pass_cost(model, {1, 10, 0, 1, 0}, {});
  EXPECT_EQ(part(prefill, "attention").flops, 4 * 8 * (2 * 55 + 2 * 45.0));
  // At context 10 a query sees 11 tokens or 6, of which 10 or 5 come from the cache.
  const PassCost decode = pass_cost(model, {1, 1, 10, 1, 0}, {});
  EXPECT_EQ(part(decode, "attention").flops, 4 * 8 * (2 * 11 + 2 * 6.0));
  EXPECT_EQ(part(decode, "attention").kv_bytes, 2 * 8 * 2 * (2 * 11 + 2 * 6.0));
  // At context 3 the window does not matter yet.
  const PassCost early = pass_cost(model, {1, 1, 3, 1, 0}, {});
  EXPECT_EQ(part(early, "attention").flops, 4 * 8 * 4 * 4.0);
  // 4 norms per layer (Gemma 2), tied embedding.
  EXPECT_EQ(parameter_count(model), 80U + 8U + 4 * (4 * 64U + 3 * 128U + 4 * 8U));
}

// The dense model in 4 bits, groups of 128 with an f16 scale and a 4-bit zero point each:
// 0.5 + 2.5 / 128 bytes per weight; embedding, norms and head stay bf16; the cache has 8 bits.
TEST(Cost, QuantizedWeightsAndCache) {
  const ModelSpec model = parsed(R"({"model_type": "llama", "hidden_size": 4096,
    "intermediate_size": 11008, "num_hidden_layers": 8, "num_attention_heads": 32,
    "num_key_value_heads": 8, "vocab_size": 32000, "torch_dtype": "bfloat16",
    "quantization_config": {"quant_method": "awq", "bits": 4, "group_size": 128}})");
  const double weight = 0.5 + 2.5 / 128;
  EXPECT_DOUBLE_EQ(model.weights.bytes, 0.51953125);
  EXPECT_EQ(model.weights.name, "int4");
  EXPECT_DOUBLE_EQ(weight_bytes(model),
                   8 * (kAttention + kFeedForward) * weight + 2 * (2 * kHead + 17 * kHidden));
  const PassCost cost = pass_cost(model, kDecodeAt777, {});
  EXPECT_DOUBLE_EQ(cost.bytes(), 8 * (kAttention + kFeedForward) * weight +
                                     2 * (kHead + 17 * kHidden + kHidden) + 778 * 32768.0);
  // The arithmetic is the same.
  EXPECT_EQ(cost.flops(), pass_cost(dense_graph(), kDecodeAt777, {}).flops());
}

// Three layers of linear attention, then one with a cache. Per layer of the former: a state of 4
// heads of 8 x 8 floats, and 4 tokens of 2 x 2 x 8 keys and queries and 4 x 8 values.
TEST(Cost, LinearAttentionReadsAStateOfFixedSize) {
  const ModelSpec model = parsed(R"({"model_type": "qwen3_next", "hidden_size": 64,
    "intermediate_size": 96, "num_hidden_layers": 4, "num_attention_heads": 4, "head_dim": 16,
    "num_key_value_heads": 2, "vocab_size": 100, "linear_num_key_heads": 2,
    "linear_num_value_heads": 4, "linear_key_head_dim": 8, "linear_value_head_dim": 8,
    "linear_conv_kernel_dim": 4, "dtype": "bfloat16"})");
  const PassCost cost = pass_cost(model, {2, 1, 10, 1, 0}, {});
  EXPECT_EQ(part(cost, "linear attention").kv_bytes, 3 * 2 * 2 * (256 * 4.0 + 64 * 4 * 2));
  EXPECT_EQ(part(cost, "linear attention").weight_bytes,
            3 * 2.0 * (64 * (64 + 32 + 2 * 4 + 32) + 64 * 4 + 2 * 4));
  // Keys and values of 2 heads of 16, for 2 new and 20 cached tokens.
  EXPECT_EQ(part(cost, "attention").kv_bytes, 2 * 2 * 16 * 2 * 22.0);
  // Queries and their gate, keys, values, output.
  EXPECT_EQ(part(cost, "q, k, v, o projections").weight_bytes, 2.0 * 64 * (2 * 64 + 2 * 32 + 64));
}

TEST(Cost, ImagesGoThroughTheVisionTowers) {
  ModelSpec model = dense_graph();
  model.vision = {{"tower", 1000, 5000}};
  EXPECT_EQ(part(pass_cost(model, {1, 777, 0, 1, 2}, {}), "tower").flops, 10000);
  EXPECT_EQ(part(pass_cost(model, {1, 777, 0, 1, 2}, {}), "tower").weight_bytes, 2000);
  EXPECT_EQ(pass_cost(model, kPrefill777, {}).flops(),
            pass_cost(dense_graph(), kPrefill777, {}).flops());
}

}  // namespace
}  // namespace llmprof::llm
