#include "fit/fit.h"

#include <gtest/gtest.h>

#include <numeric>

#include "base/text.h"
#include "config/conf_files.h"
#include "fit/capacity.h"
#include "fit/llama_cpp.h"
#include "fit/request.h"

namespace llmprof::fit {
namespace {

constexpr double kMib = 1 << 20;
constexpr uint64_t kH200 = 143771ULL << 20U;

llm::ModelSpec preset(std::string_view name) {
  static const config::ConfFiles files = *config::ConfFiles::open(std::nullopt);
  auto model = llm::load_model_spec(name, files);
  EXPECT_TRUE(model) << model.error().message;
  return model ? std::move(*model) : llm::ModelSpec();
}

Request request_for(std::string_view name, uint64_t batch, uint64_t context) {
  Request request;
  request.model = preset(name);
  request.batch = batch;
  request.context = context;
  request.prompt_tokens = context / 2;
  return request;
}

uint64_t bytes_for(const Need& need, Purpose kind) {
  uint64_t sum = 0;
  for (const MemoryRow& row : need.rows) {
    if (row.kind == kind) sum += row.bytes;
  }
  return sum;
}

Question question_for(std::string model) {
  Question question;
  question.model = std::move(model);
  return question;
}

std::string error_of(const Question& question) {
  const auto result = answer(question);
  EXPECT_FALSE(result);
  if (result) return {};
  EXPECT_EQ(result.error().kind, ErrorKind::usage);
  return result.error().message;
}

TEST(SequenceBytes, DependOnTheKindOfAttention) {
  // 2 x 8 heads x 64 x 16 layers; 2 x 32 x 128 x 32.
  EXPECT_EQ(sequence_bytes(request_for("llama_1b", 1, 1024)).per_token, 32768);
  EXPECT_EQ(sequence_bytes(request_for("llama2_7b", 1, 1024)).per_token, 524288);
  // 128 heads x (128 + 64 + 128) x 61 layers, expanded; 512 + 64 in the latent.
  Request latent = request_for("deepseek_v3", 1, 1024);
  EXPECT_EQ(sequence_bytes(latent).per_token, 128.0 * 320 * 61 * 2);
  latent.engine = Engine::llama_cpp;
  EXPECT_EQ(sequence_bytes(latent).per_token, 576.0 * 61 * 2);
}

// Gemma 2 9B: 21 of 42 layers hold 4096 tokens at most.
TEST(SequenceBytes, WindowsHoldFewerTokens) {
  const double layer = 2 * 8 * 256 * 2;
  EXPECT_EQ(sequence_bytes(request_for("gemma2_9b", 1, 16384)).whole, layer * 21 * (16384 + 4096));
  EXPECT_EQ(sequence_bytes(request_for("gemma2_9b", 1, 16384)).per_token, layer * 21);
}

TEST(SequenceBytes, FormatsAndGpusDivideThem) {
  Request request = request_for("llama3_8b", 1, 1024);
  const double whole = sequence_bytes(request).whole;
  request.tp = 2;
  EXPECT_EQ(sequence_bytes(request).whole, whole / 2);
  request.model.kv_cache = {"fp8", 1};
  EXPECT_EQ(sequence_bytes(request).whole, whole / 4);
}

TEST(Need, HasExactWeightsAndCache) {
  const Need need = need_of(request_for("llama_1b", 8, 4096), std::nullopt);
  EXPECT_EQ(bytes_for(need, Purpose::weights), 1'235'814'400U * 2);
  EXPECT_EQ(bytes_for(need, Purpose::kv_cache), 8U * 4096 * 32768);
  EXPECT_TRUE(need.fits);
}

// The bytes of a tied head, 128256 x 2048 x 2, stay reserved and hold what comes next.
TEST(Need, ATiedHeadLeavesItsBytesReserved) {
  Request request = request_for("llama_1b", 1, 16);
  request.graphs = false;
  const Need need = need_of(request, std::nullopt);
  const uint64_t held = bytes_for(need, Purpose::allocator) +
                        bytes_for(need, Purpose::activations) + bytes_for(need, Purpose::kv_cache) +
                        (32U << 20U);
  EXPECT_GE(held, 128256U * 2048 * 2);
}

TEST(Need, AGraphHasAPoolOfItsOwn) {
  Request request = request_for("llama3_8b", 16, 8192);
  const Need with = need_of(request, std::nullopt);
  request.graphs = false;
  const Need without = need_of(request, std::nullopt);
  EXPECT_EQ(bytes_for(without, Purpose::graphs), 0U);
  // Keys and values for each of 32 query heads: 2 x 16 x 32 x 8192 x 128 x 2.
  EXPECT_GT(static_cast<double>(bytes_for(with, Purpose::graphs)), 2048 * kMib);
}

// A linear layer's state does not depend on the context.
TEST(Need, StatesOfLinearAttention) {
  Request request = request_for("llama_1b", 4, 1024);
  const double before = sequence_bytes(request).whole;
  request.model.linear = llm::LinearAttention{2, 4, 32, 64, 4};
  for (size_t i = 0; i < 8; ++i) request.model.layers[i].attention = llm::AttentionKind::linear;
  const double convolution = (2.0 * 2 * 32 + 4 * 64) * 4 * 2;
  EXPECT_EQ(sequence_bytes(request).state, 8 * (4.0 * 32 * 64 * 4 + convolution));
  EXPECT_EQ(sequence_bytes(request).whole, before / 2);
  EXPECT_TRUE(need_of(request, kH200).fits);
}

TEST(Capacity, TheLargestBatchFitsAndTenPercentMoreDoesNot) {
  for (const char* name : {"llama_1b", "llama3_8b", "deepseek_v2_lite", "gemma2_9b"}) {
    Request request = request_for(name, 1, 4096);
    const auto most = largest_batch(request, kH200);
    ASSERT_TRUE(most) << name;
    request.batch = *most;
    EXPECT_TRUE(need_of(request, kH200).fits) << name;
    EXPECT_LE(need_of(request, kH200).bytes(), kH200) << name;
    request.batch = *most + std::max<uint64_t>(*most / 10, 1);
    EXPECT_FALSE(need_of(request, kH200).fits) << name;
  }
}

TEST(Capacity, TheLargestContextIsAtMostTheModels) {
  const Request small = request_for("llama_1b", 1, 4096);
  EXPECT_EQ(largest_context(small, kH200), 131072U);
  EXPECT_EQ(largest_context(request_for("deepseek_v3", 1, 4096), kH200), std::nullopt);
}

// As llama.cpp prints them ("CUDA0 model buffer size", "KV buffer size", "compute buffer size").
TEST(LlamaCpp, BuffersAreThoseThatItPrints) {
  struct Printed {
    const char* preset;
    const char* format;
    double model_mib;
    double compute_mib;
  };
  for (const Printed& printed : {Printed{"llama2_7b", "q4_0", 3577.56, 70.50},
                                 Printed{"llama3_8b", "q4_k_m", 4403.49, 258.50}}) {
    Request request = request_for(printed.preset, 1, 4096);
    request.engine = Engine::llama_cpp;
    request.model.weights = *gguf_format(printed.format);
    request.model.kv_cache = *gguf_format("f16");
    const Need need = need_of(request, kH200);
    EXPECT_NEAR(static_cast<double>(bytes_for(need, Purpose::weights)) / kMib, printed.model_mib,
                0.01 * printed.model_mib)
        << printed.preset;
    EXPECT_NEAR(static_cast<double>(bytes_for(need, Purpose::activations)) / kMib,
                printed.compute_mib, 0.01 * printed.compute_mib)
        << printed.preset;
  }
  EXPECT_FALSE(gguf_format("q9_9"));
}

TEST(Answer, RowsSumToTheNeed) {
  const auto result = answer(question_for("llama3_8b"));
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_TRUE(result->fits);
  EXPECT_EQ(result->gpu, "H200 SXM");
  const uint64_t sum =
      std::accumulate(result->rows.begin(), result->rows.end(), uint64_t{0},
                      [](uint64_t total, const MemoryRow& row) { return total + row.bytes; });
  EXPECT_EQ(sum, result->needed_bytes);
  EXPECT_LE(result->needed_bytes, result->gpu_bytes);
}

TEST(Answer, SaysThatAModelDoesNotFit) {
  const auto result = answer(question_for("deepseek_v3"));
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_FALSE(result->fits);
  EXPECT_GT(result->needed_bytes, result->gpu_bytes);
  EXPECT_EQ(result->largest_batch, std::nullopt);
}

TEST(Answer, MistakesNameTheOption) {
  Question question = question_for("llama3_8b");
  question.gpu = "H201";
  EXPECT_TRUE(contains(error_of(question), "--gpu H201: unknown")) << error_of(question);
  question.gpu = "H200";
  question.engine = "vllm";
  EXPECT_TRUE(contains(error_of(question), "available: hf-static, llama.cpp"));
  question.engine = "hf-static";
  question.weights = "fp7";
  EXPECT_TRUE(contains(error_of(question), "--weights fp7: unknown format"));
  question.weights = std::nullopt;
  question.prompt_tokens = 8192;
  EXPECT_TRUE(contains(error_of(question), "--prompt-tokens 8192 is more than --context 4096"));
  question.prompt_tokens = std::nullopt;
  question.tp = 64;
  EXPECT_TRUE(contains(error_of(question), "--tp 64 is more than the model's 32 heads"));
  EXPECT_TRUE(contains(error_of(question_for("no_such_model")), "no_such_model"));
}

}  // namespace
}  // namespace llmprof::fit
