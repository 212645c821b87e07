#include "cpu_llm/request.h"

#include <gtest/gtest.h>
#include <llmprof/annotate.h>

#include <algorithm>
#include <map>

#include "cpu_llm/recorded_annotations.h"

namespace cpu_llm {
namespace {

constexpr ModelShape kShape = {
    .hidden = 64, .intermediate = 96, .layers = 2, .heads = 4, .kv_heads = 2, .vocabulary = 128};
// Weights of all products of a layer: queries 64 x 64, keys and values 64 x 32 each, o 64 x 64;
// gate, up and down 64 x 96 each.
constexpr uint64_t kLayerWeights = 64UL * 64 + 2UL * 64 * 32 + 64UL * 64 + 3UL * 64 * 96;
constexpr uint64_t kHeadWeights = 64UL * 128;
constexpr size_t kPrompt = 10;
constexpr size_t kNew = 4;

struct Recorded {
  testing::RecordedAnnotations annotations;
  RequestResult result;
};

Recorded recorded_request(size_t batch) {
  Workers workers(2);
  const Weights weights = random_weights(kShape, 1, workers);
  Decoder decoder(weights, batch, kPrompt + kNew, workers);
  const auto prompts = random_prompts(kPrompt, batch, kShape.vocabulary, 1, 0);
  testing::RecordedAnnotations& annotations = testing::record_annotations();
  RequestResult result = run_request(decoder, prompts, batch, kNew);
  return {annotations, std::move(result)};
}

bool is_product(const testing::RecordedOperator& op) { return op.name.starts_with("cpu::gem"); }

TEST(Request, AnnotatesStagesStepsAndLayers) {
  const auto annotations = recorded_request(3).annotations;
  EXPECT_TRUE(annotations.open.empty());
  const std::vector<std::string> expected = {
      "prefill",     "layer_00", "layer_01", "decode_all",  "decode_step", "layer_00", "layer_01",
      "decode_step", "layer_00", "layer_01", "decode_step", "layer_00",    "layer_01"};
  EXPECT_EQ(annotations.ranges, expected);
  ASSERT_EQ(annotations.steps.size(), kNew);
  EXPECT_EQ(annotations.steps[0].kind, static_cast<uint32_t>(LLMPROF_STEP_PREFILL));
  EXPECT_EQ(annotations.steps[0].batch, 3U);
  EXPECT_EQ(annotations.steps[0].tokens, 3 * kPrompt);
  EXPECT_EQ(annotations.steps[0].within, "prefill");
  for (size_t i = 1; i < kNew; ++i) {
    EXPECT_EQ(annotations.steps[i].kind, static_cast<uint32_t>(LLMPROF_STEP_DECODE));
    EXPECT_EQ(annotations.steps[i].batch, 3U);
    EXPECT_EQ(annotations.steps[i].tokens, 3U);
    EXPECT_EQ(annotations.steps[i].within, "decode_step");
  }
}

TEST(Request, NamesTheOperatorsInTheirOrder) {
  const auto annotations = recorded_request(1).annotations;
  std::vector<std::string> prefill;
  std::vector<std::string> last_step;
  const size_t operators = annotations.operators.size() / kNew;
  for (size_t i = 0; i < operators; ++i) {
    prefill.push_back(annotations.operators[i].name);
    last_step.push_back(annotations.operators[annotations.operators.size() - operators + i].name);
  }
  const std::vector<std::string> expected = {
      "cpu::embedding_lookup", "cpu::rms_norm",
      "cpu::gemm_qkv",         "cpu::rope",
      "cpu::kv_cache_append",  "cpu::attention_prefill",
      "cpu::gemm_o_proj",      "cpu::fused_add_rms_norm",
      "cpu::gemm_gate_up",     "cpu::silu_mul",
      "cpu::gemm_down_proj",   "cpu::fused_add_rms_norm",
      "cpu::gemm_qkv",         "cpu::rope",
      "cpu::kv_cache_append",  "cpu::attention_prefill",
      "cpu::gemm_o_proj",      "cpu::fused_add_rms_norm",
      "cpu::gemm_gate_up",     "cpu::silu_mul",
      "cpu::gemm_down_proj",   "cpu::final_fused_add_rms_norm",
      "cpu::gemv_lm_head",     "cpu::argmax"};
  EXPECT_EQ(prefill, expected);
  std::vector<std::string> streamed = expected;
  for (std::string& name : streamed) {
    if (name.starts_with("cpu::gemm_")) name.replace(0, 9, "cpu::gemv");
    if (name == "cpu::attention_prefill") name = "cpu::attention_decode";
  }
  EXPECT_EQ(last_step, streamed);
}

TEST(Request, OperatorsFollowEachOtherWithinTheirRanges) {
  const auto recorded = recorded_request(1);
  int64_t before = 0;
  for (const auto& op : recorded.annotations.operators) {
    EXPECT_LE(before, op.start_ns);
    EXPECT_LE(op.start_ns, op.end_ns);
    before = op.end_ns;
    ASSERT_FALSE(op.within.empty());
    EXPECT_TRUE(op.within.front() == "prefill" || op.within.front() == "decode_all");
    const bool in_layer = op.within.back().starts_with("layer_");
    const bool outside = op.name == "cpu::embedding_lookup" || op.name == "cpu::argmax" ||
                         op.name == "cpu::final_fused_add_rms_norm" ||
                         op.name == "cpu::gemv_lm_head";
    EXPECT_NE(in_layer, outside) << op.name;
  }
}

// 2 x tokens x weights, the head for the last position of each sequence only.
TEST(Request, ProductsOfPrefillComputeTwoFlopsAWeightAndToken) {
  for (const size_t batch : {1U, 6U}) {
    uint64_t flops = 0;
    for (const auto& op : recorded_request(batch).annotations.operators) {
      if (is_product(op) && op.within.front() == "prefill") flops += op.flops;
    }
    EXPECT_EQ(flops, 2 * batch * (kPrompt * 2 * kLayerWeights + kHeadWeights));
  }
}

TEST(Request, ProductsOfAStepReadEachWeightOnce) {
  std::map<std::string, uint64_t> bytes;
  for (const auto& op : recorded_request(1).annotations.operators) {
    if (is_product(op) && op.within.front() == "decode_all") bytes[op.name] += op.bytes;
  }
  uint64_t all = 0;
  for (const auto& [name, sum] : bytes) all += sum;
  // Inputs and outputs of a layer's products: 64 + 128, 64 + 64, 64 + 192, 96 + 64; the head's.
  constexpr uint64_t kActivations = 2UL * (192 + 128 + 256 + 160) + (64 + 128);
  constexpr uint64_t kSteps = kNew - 1;
  EXPECT_EQ(all, 4 * kSteps * (2 * kLayerWeights + kHeadWeights + kActivations));
}

TEST(Request, AttentionReadsAllThatIsCached) {
  std::vector<uint64_t> bytes;
  for (const auto& op : recorded_request(1).annotations.operators) {
    if (op.name == "cpu::attention_decode") bytes.push_back(op.bytes);
  }
  ASSERT_EQ(bytes.size(), (kNew - 1) * kShape.layers);
  // The first step attends to the prompt and its own token: 11 positions of 32 keys, 32 values.
  EXPECT_EQ(bytes.front(), 4 * (64 + 64 + 11 * 64));
  EXPECT_EQ(bytes.back(), 4 * (64 + 64 + 13 * 64));
}

TEST(Request, TimesAndCostsOfStagesAddUp) {
  const auto [annotations, result] = recorded_request(2);
  std::map<std::string, OperatorCost> told;
  std::map<std::string, int64_t> in_operators;
  for (const auto& op : annotations.operators) {
    told[op.within.front()] += {op.flops, op.bytes};
    in_operators[op.within.front()] += op.end_ns - op.start_ns;
  }
  EXPECT_EQ(result.timing.prefill.cost.flops, told["prefill"].flops);
  EXPECT_EQ(result.timing.prefill.cost.bytes, told["prefill"].bytes);
  EXPECT_EQ(result.timing.decode.cost.flops, told["decode_all"].flops);
  EXPECT_EQ(result.timing.decode.cost.bytes, told["decode_all"].bytes);
  EXPECT_GE(result.timing.prefill.wall_ns, in_operators["prefill"]);
  int64_t steps = 0;
  for (const int64_t step : result.timing.decode_steps_ns) steps += step;
  EXPECT_GE(steps, in_operators["decode_all"]);
  EXPECT_GE(result.timing.decode.wall_ns, steps);
  EXPECT_EQ(result.timing.decode_steps_ns.size(), kNew - 1);
  EXPECT_EQ(result.tokens.size(), 2 * kNew);
}

TEST(Request, OneNewTokenNeedsNoDecode) {
  Workers workers(1);
  const Weights weights = random_weights(kShape, 1, workers);
  Decoder decoder(weights, 1, kPrompt + 1, workers);
  const auto& annotations = testing::record_annotations();
  const auto result =
      run_request(decoder, random_prompts(kPrompt, 1, kShape.vocabulary, 1, 0), 1, 1);
  EXPECT_EQ(result.tokens.size(), 1U);
  EXPECT_EQ(result.timing.decode.wall_ns, 0);
  EXPECT_EQ(std::count(annotations.ranges.begin(), annotations.ranges.end(), "decode_all"), 0);
}

}  // namespace
}  // namespace cpu_llm
