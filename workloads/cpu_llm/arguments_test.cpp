#include "cpu_llm/arguments.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/machine.h"
#include "cpu_llm/default_layers.h"

namespace cpu_llm {
namespace {

std::variant<Arguments, Ending> read(std::vector<const char*> values) {
  values.insert(values.begin(), "cpu_llm");
  return read_arguments(static_cast<int>(values.size()), values.data());
}

void expect_refused(const std::vector<const char*>& values, const std::string& words) {
  const auto result = read(values);
  const auto* ending = std::get_if<Ending>(&result);
  ASSERT_NE(ending, nullptr) << words;
  EXPECT_EQ(ending->exit_code, 2);
  EXPECT_NE(ending->text.find(words), std::string::npos) << ending->text;
  EXPECT_NE(ending->text.find("cpu_llm --help"), std::string::npos) << ending->text;
}

std::variant<Arguments, Ending> read_for_ranks(size_t ranks, std::vector<const char*> values) {
  values.insert(values.begin(), "cpu_llm_tp");
  return read_arguments(static_cast<int>(values.size()), values.data(), ranks);
}

TEST(CpuLlmArguments, OfRanks) {
  const auto result = read_for_ranks(2, {"--slow-rank", "1", "--slow-by", "1.5"});
  const auto& arguments = std::get<Arguments>(result);
  EXPECT_EQ(arguments.name, "cpu_llm_tp");
  EXPECT_EQ(arguments.shape.parts, 2U);
  EXPECT_EQ(arguments.threads, 1U);
  EXPECT_EQ(arguments.slow_rank, 1U);
  EXPECT_EQ(arguments.slow_by, 1.5);
  expect_refused({"--slow-rank", "1"}, "--slow-rank");
}

TEST(CpuLlmArguments, OfRanksThatCannotBe) {
  const auto refusal = [](size_t ranks, const std::vector<const char*>& values) {
    const auto result = read_for_ranks(ranks, values);
    const auto* ending = std::get_if<Ending>(&result);
    return ending == nullptr ? std::string() : ending->text;
  };
  EXPECT_EQ(refusal(4, {}), "");
  EXPECT_EQ(refusal(3, {}),
            "cpu_llm_tp: --kv-heads 4 cannot be split among 3 ranks; see cpu_llm_tp --help\n");
  EXPECT_NE(refusal(2, {"--intermediate", "33"}).find("--intermediate 33 cannot"),
            std::string::npos);
  EXPECT_NE(refusal(2, {"--vocabulary", "33"}).find("--vocabulary 33 cannot"), std::string::npos);
  EXPECT_NE(refusal(2, {"--slow-rank", "2", "--slow-by", "2"}).find("not one of the 2 ranks"),
            std::string::npos);
  EXPECT_NE(refusal(2, {"--slow-by", "2"}).find("needs --slow-rank"), std::string::npos);
  EXPECT_NE(refusal(2, {"--slow-rank", "0", "--slow-by", "0.5"}).find("--slow-by"),
            std::string::npos);
}

TEST(CpuLlmArguments, HaveDefaults) {
  const auto result = read({});
  const auto& arguments = std::get<Arguments>(result);
  EXPECT_EQ(arguments.name, "cpu_llm");
  EXPECT_EQ(arguments.shape.hidden, 768U);
  EXPECT_EQ(arguments.shape.intermediate, 2048U);
  EXPECT_EQ(arguments.shape.layers,
            default_layers(llmprof::last_level_cache_bytes(), llmprof::usable_memory_bytes()));
  EXPECT_EQ(arguments.shape.heads, 12U);
  EXPECT_EQ(arguments.shape.kv_heads, 4U);
  EXPECT_EQ(arguments.shape.vocabulary, 8192U);
  EXPECT_EQ(arguments.prompt_tokens, 64U);
  EXPECT_EQ(arguments.new_tokens, 16U);
  EXPECT_EQ(arguments.batch, 1U);
  EXPECT_EQ(arguments.requests, 3U);
  EXPECT_EQ(arguments.warm_up, 1U);
  EXPECT_EQ(arguments.seed, 1U);
  EXPECT_EQ(arguments.threads, 0U);
  EXPECT_TRUE(arguments.measure_peaks);
}

TEST(CpuLlmArguments, AreAllTaken) {
  const auto result = read({"--hidden",
                            "64",
                            "--intermediate",
                            "100",
                            "--layers",
                            "3",
                            "--heads",
                            "8",
                            "--kv-heads",
                            "2",
                            "--vocabulary",
                            "99",
                            "--prompt-tokens",
                            "5",
                            "--new-tokens",
                            "6",
                            "--batch",
                            "7",
                            "--requests",
                            "8",
                            "--warm-up",
                            "0",
                            "--seed",
                            "9",
                            "--threads",
                            "4",
                            "--name",
                            "small",
                            "--no-peaks",
                            "--peak-seconds",
                            "0.5"});
  const auto& arguments = std::get<Arguments>(result);
  EXPECT_EQ(arguments.name, "small");
  EXPECT_EQ(arguments.shape.hidden, 64U);
  EXPECT_EQ(arguments.shape.intermediate, 100U);
  EXPECT_EQ(arguments.shape.layers, 3U);
  EXPECT_EQ(arguments.shape.heads, 8U);
  EXPECT_EQ(arguments.shape.kv_heads, 2U);
  EXPECT_EQ(arguments.shape.vocabulary, 99U);
  EXPECT_EQ(arguments.prompt_tokens, 5U);
  EXPECT_EQ(arguments.new_tokens, 6U);
  EXPECT_EQ(arguments.batch, 7U);
  EXPECT_EQ(arguments.requests, 8U);
  EXPECT_EQ(arguments.warm_up, 0U);
  EXPECT_EQ(arguments.seed, 9U);
  EXPECT_EQ(arguments.threads, 4U);
  EXPECT_FALSE(arguments.measure_peaks);
  EXPECT_EQ(arguments.peak_seconds, 0.5);
}

TEST(CpuLlmArguments, TheLastOfSeveralCounts) {
  const auto result = read({"--layers", "3", "--seed", "1", "--layers", "4", "--seed", "2"});
  const auto& arguments = std::get<Arguments>(result);
  EXPECT_EQ(arguments.shape.layers, 4U);
  EXPECT_EQ(arguments.seed, 2U);
}

TEST(CpuLlmArguments, HelpNamesEveryOption) {
  const auto result = read({"--help"});
  const auto& ending = std::get<Ending>(result);
  EXPECT_EQ(ending.exit_code, 0);
  for (const char* option :
       {"--hidden", "--kv-heads", "--no-peaks", "--peak-seconds", "--threads", "--warm-up"}) {
    EXPECT_NE(ending.text.find(option), std::string::npos) << option;
  }
}

TEST(CpuLlmArguments, ThatCannotBeAreRefused) {
  expect_refused({"--hiden", "8"}, "--hiden");
  expect_refused({"--peak-seconds", "-1"}, "--peak-seconds");
  expect_refused({"--layers", "many"}, "--layers");
  expect_refused({"--layers", "0"}, "--layers");
  expect_refused({"--layers", "-1"}, "--layers");
  expect_refused({"--layers"}, "--layers");
  expect_refused({"prompt"}, "prompt");
  expect_refused({"--hidden", "100"}, "--hidden 100 is not a multiple of --heads 12");
  expect_refused({"--hidden", "36"}, "even");
  expect_refused({"--kv-heads", "5"}, "--heads 12 is not a multiple of --kv-heads 5");
  expect_refused({"--layers", "1000000"}, "fewer --layers");
}

}  // namespace
}  // namespace cpu_llm
