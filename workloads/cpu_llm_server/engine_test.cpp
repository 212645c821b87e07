#include "cpu_llm_server/engine.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <map>

#include "cpu_llm/recorded_annotations.h"
#include "cpu_llm/request.h"

namespace cpu_llm_server {
namespace {

constexpr cpu_llm::ModelShape kTiny = {
    .hidden = 32, .intermediate = 48, .layers = 2, .heads = 4, .kv_heads = 2, .vocabulary = 97};
constexpr size_t kNewTokens = 9;

EngineOptions tiny_engine(const SchedulerLimits& limits) {
  EngineOptions options;
  options.shape = kTiny;
  options.limits = limits;
  options.seed = 3;
  return options;
}

std::vector<Token> prompt_of(size_t tokens, uint64_t request) {
  return cpu_llm::random_prompts(tokens, 1, kTiny.vocabulary, 11, request);
}

// The tokens of each request, as they arrive.
class Collected {
 public:
  void add(const std::vector<GeneratedToken>& tokens) {
    const std::lock_guard lock(mutex_);
    for (const GeneratedToken& each : tokens) {
      tokens_[each.request].push_back(each.token);
      if (each.finish != FinishReason::none) ++finished_;
    }
    changed_.notify_all();
  }
  std::map<RequestId, std::vector<Token>> wait_for(size_t finished) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(
        changed_.wait_for(lock, std::chrono::seconds(60), [&] { return finished_ >= finished; }));
    return tokens_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<RequestId, std::vector<Token>> tokens_;
  size_t finished_ = 0;
};

// What the decoder generates for a prompt alone.
std::vector<Token> alone(const std::vector<Token>& prompt) {
  cpu_llm::Workers workers(1);
  const cpu_llm::Weights weights = cpu_llm::random_weights(kTiny, 3, workers);
  cpu_llm::Decoder decoder(weights, 1, prompt.size() + kNewTokens, workers);
  return cpu_llm::run_request(decoder, prompt, 1, kNewTokens).tokens;
}

void expect_tokens_of_each_alone(const SchedulerLimits& limits, std::vector<Fault> faults = {}) {
  const std::vector<size_t> sizes = {5, 40, 1, 23, 12};
  Collected collected;
  EngineOptions options = tiny_engine(limits);
  options.faults = std::move(faults);
  std::map<RequestId, std::vector<Token>> expected;
  {
    const cpu_llm::testing::RecordingPaused paused;
    for (size_t i = 0; i < sizes.size(); ++i) expected[i] = alone(prompt_of(sizes[i], i));
    Engine engine(options, nullptr, [&](const auto& tokens) { collected.add(tokens); });
    for (size_t i = 0; i < sizes.size(); ++i) {
      EXPECT_EQ(engine.submit({"", prompt_of(sizes[i], i), {kNewTokens, {}}, llmprof_now_ns()}), i);
    }
    EXPECT_EQ(collected.wait_for(sizes.size()), expected);
  }
}

TEST(CpuLlmEngine, GeneratesWhatEachRequestGetsAlone) { expect_tokens_of_each_alone({}); }

TEST(CpuLlmEngine, ChunksDoNotChangeTokens) {
  expect_tokens_of_each_alone({.slots = 2, .chunk_tokens = 7, .cache_tokens = 200});
}

// Requests of 14 to 49 tokens, in a cache for 60.
TEST(CpuLlmEngine, PreemptionsDoNotChangeTokens) {
  expect_tokens_of_each_alone({.slots = 5, .chunk_tokens = 30, .cache_tokens = 60});
}

TEST(CpuLlmEngine, FaultsDoNotChangeTokens) {
  expect_tokens_of_each_alone(
      {}, {*parse_fault("evict=at:0s,for:3ms"), *parse_fault("pause=at:0s,for:3ms"),
           *parse_fault("slow_layer=at:0s,for:1s,layer:1,by:2x")});
}

TEST(CpuLlmEngine, ACanceledRequestEndsWithoutItsTokens) {
  const cpu_llm::testing::RecordingPaused paused;
  Collected collected;
  EngineOptions options = tiny_engine({.slots = 1, .chunk_tokens = 30, .cache_tokens = 4000});
  Engine engine(options, nullptr, [&](const auto& tokens) { collected.add(tokens); });
  const RequestId endless = engine.submit({"", prompt_of(5, 0), {3000, {}}, llmprof_now_ns()});
  const RequestId next = engine.submit({"", prompt_of(5, 1), {2, {}}, llmprof_now_ns()});
  engine.cancel(endless);
  const auto tokens = collected.wait_for(1);
  EXPECT_EQ(tokens.at(next).size(), 2U);
}

TEST(CpuLlmEngine, AnnotatesItsSteps) {
  const auto& recorded = cpu_llm::testing::record_annotations();
  {
    Collected collected;
    Engine engine(tiny_engine({.slots = 2, .chunk_tokens = 8, .cache_tokens = 100}), nullptr,
                  [&](const auto& tokens) { collected.add(tokens); });
    engine.submit({"", prompt_of(12, 0), {2, {}}, llmprof_now_ns()});
    collected.wait_for(1);
  }
  ASSERT_EQ(recorded.steps.size(), 3U);
  EXPECT_EQ(recorded.steps[0].within, "engine_step prefill=1(8) decode=0(0)");
  EXPECT_EQ(recorded.steps[1].within, "engine_step prefill=1(4) decode=0(0)");
  EXPECT_EQ(recorded.steps[2].within, "engine_step prefill=0(0) decode=1(1)");
  EXPECT_EQ(recorded.steps[0].kind, static_cast<uint32_t>(LLMPROF_STEP_PREFILL));
  EXPECT_EQ(recorded.steps[2].kind, static_cast<uint32_t>(LLMPROF_STEP_DECODE));
  EXPECT_EQ(recorded.steps[0].tokens, 8U);
  // The first chunk needs no head.
  size_t heads = 0;
  for (const auto& each : recorded.operators) {
    if (each.name == "cpu::gemv_lm_head") ++heads;
  }
  EXPECT_EQ(heads, 2U);
}

}  // namespace
}  // namespace cpu_llm_server
