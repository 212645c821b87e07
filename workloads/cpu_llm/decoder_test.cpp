#include "cpu_llm/decoder.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <set>

#include "cpu_llm/matrix_product.h"
#include "cpu_llm/plain_model.h"
#include "cpu_llm/recorded_annotations.h"
#include "cpu_llm/request.h"

namespace cpu_llm {
namespace {

constexpr ModelShape kTiny = {
    .hidden = 8, .intermediate = 12, .layers = 2, .heads = 4, .kv_heads = 2, .vocabulary = 16};
// Odd sizes, and rows that are not a multiple of the SIMD width.
constexpr ModelShape kUneven = {
    .hidden = 90, .intermediate = 37, .layers = 3, .heads = 5, .kv_heads = 5, .vocabulary = 301};
constexpr ModelShape kGrouped = {
    .hidden = 96, .intermediate = 600, .layers = 2, .heads = 6, .kv_heads = 1, .vocabulary = 530};
constexpr double kTolerance = 2e-4;  // of logits of about 1, in f32

struct Case {
  ModelShape shape;
  size_t batch;
  size_t tokens;
};

std::span<const Token> sequence(const std::vector<Token>& tokens, size_t index, size_t size) {
  return std::span(tokens).subspan(index * size, size);
}

void expect_like_plain(const Case& given, size_t threads) {
  leave_threads_to_workers();
  Workers workers(threads);
  const Weights weights = random_weights(given.shape, 7, workers);
  const auto tokens = random_prompts(given.tokens, given.batch, given.shape.vocabulary, 3, 0);
  Decoder decoder(weights, given.batch, given.tokens, workers);
  const auto logits = decoder.add(tokens);
  ASSERT_EQ(logits.size(), given.batch * given.shape.vocabulary);
  for (size_t i = 0; i < given.batch; ++i) {
    const auto expected = testing::plain_logits(weights, sequence(tokens, i, given.tokens));
    for (size_t token = 0; token < given.shape.vocabulary; ++token) {
      ASSERT_NEAR(static_cast<double>(logits[i * given.shape.vocabulary + token]), expected[token],
                  kTolerance)
          << "sequence " << i << ", token " << token;
    }
  }
}

TEST(Decoder, GivesTheLogitsOfAPlainModel) {
  for (const Case& given : {Case{kTiny, 1, 1}, Case{kTiny, 1, 3}, Case{kTiny, 2, 7},
                            Case{kUneven, 3, 21}, Case{kGrouped, 1, 35}}) {
    for (const size_t threads : {1U, 3U}) expect_like_plain(given, threads);
  }
}

// The reference distinguishes prompts far beyond the tolerance.
TEST(Decoder, ThePlainModelSeesEveryToken) {
  Workers workers(1);
  const Weights weights = random_weights(kTiny, 7, workers);
  auto tokens = random_prompts(6, 1, kTiny.vocabulary, 3, 0);
  const auto before = testing::plain_logits(weights, tokens);
  for (Token& token : tokens) {
    const Token kept = token;
    token = static_cast<Token>((static_cast<size_t>(token) + 1) % kTiny.vocabulary);
    const auto after = testing::plain_logits(weights, tokens);
    double largest = 0;
    for (size_t i = 0; i < after.size(); ++i) {
      largest = std::max(largest, std::abs(after[i] - before[i]));
    }
    EXPECT_GT(largest, 100 * kTolerance);
    token = kept;
  }
}

// Prefill of n tokens and then one by one, against prefill of all: the cache contents are right.
TEST(Decoder, StepsOverTheCacheEqualOnePrefill) {
  Workers workers(2);
  constexpr size_t kAll = 24;
  constexpr size_t kPrompt = 17;
  constexpr size_t kBatch = 2;
  const Weights weights = random_weights(kGrouped, 5, workers);
  const auto tokens = random_prompts(kAll, kBatch, kGrouped.vocabulary, 9, 0);
  const auto column = [&](size_t begin, size_t end) {
    std::vector<Token> chosen;
    for (size_t i = 0; i < kBatch; ++i) {
      const auto part = sequence(tokens, i, kAll).subspan(begin, end - begin);
      chosen.insert(chosen.end(), part.begin(), part.end());
    }
    return chosen;
  };
  Decoder stepping(weights, kBatch, kAll, workers);
  stepping.add(column(0, kPrompt));
  for (size_t end = kPrompt + 1; end <= kAll; ++end) {
    const auto stepped = stepping.add(column(end - 1, end));
    Decoder at_once(weights, kBatch, kAll, workers);
    const auto expected = at_once.add(column(0, end));
    for (size_t i = 0; i < expected.size(); ++i) {
      ASSERT_NEAR(static_cast<double>(stepped[i]), static_cast<double>(expected[i]), kTolerance);
    }
  }
}

// Two prompts in chunks of different sizes, a third in decode beside them, in caches that were used
// before: the logits are those of each sequence alone.
TEST(Decoder, SequencesOfAMixedPassDoNotSeeEachOther) {
  leave_threads_to_workers();
  Workers workers(2);
  constexpr size_t kPositions = 40;
  const Weights weights = random_weights(kGrouped, 5, workers);
  const auto a = random_prompts(30, 1, kGrouped.vocabulary, 9, 0);
  const auto b = random_prompts(21, 1, kGrouped.vocabulary, 9, 1);
  const auto c = random_prompts(12, 1, kGrouped.vocabulary, 9, 2);
  Decoder decoder(weights, 3, kPositions, workers);
  const auto run = [&](const std::vector<Chunk>& chunks) {
    const std::array<const std::vector<Token>*, 3> prompts = {&c, &a, &b};  // by cache
    std::vector<Token> tokens;
    for (const Chunk& chunk : chunks) {
      const auto part = std::span(*prompts.at(chunk.sequence)).subspan(chunk.cached, chunk.added);
      tokens.insert(tokens.end(), part.begin(), part.end());
    }
    return decoder.run(Pass(chunks), tokens);
  };
  const auto expect_row = [&](std::span<const float> logits, size_t row, const auto& prompt) {
    const auto expected = testing::plain_logits(weights, prompt);
    for (size_t i = 0; i < expected.size(); ++i) {
      ASSERT_NEAR(static_cast<double>(logits[row * kGrouped.vocabulary + i]), expected[i],
                  kTolerance)
          << "row " << row << ", token " << i;
    }
  };
  decoder.run(Pass({{.sequence = 0, .cached = 0, .added = 30}}), a);  // of an earlier request
  EXPECT_TRUE(run({{.sequence = 0, .cached = 0, .added = 7, .wants_logits = false}}).empty());
  const auto first = run({{.sequence = 1, .cached = 0, .added = 17, .wants_logits = false},
                          {.sequence = 0, .cached = 7, .added = 5}});
  ASSERT_EQ(first.size(), kGrouped.vocabulary);
  expect_row(first, 0, c);
  run({{.sequence = 2, .cached = 0, .added = 20, .wants_logits = false}});
  const auto second =
      run({{.sequence = 2, .cached = 20, .added = 1}, {.sequence = 1, .cached = 17, .added = 13}});
  ASSERT_EQ(second.size(), 2 * kGrouped.vocabulary);
  expect_row(second, 0, b);
  expect_row(second, 1, a);
}

TEST(Decoder, OnlyASlowLayersOperatorsAreDelayed) {
  Workers workers(1);
  const Weights weights = random_weights(kTiny, 5, workers);
  const auto prompt = random_prompts(6, 1, kTiny.vocabulary, 1, 0);
  Decoder decoder(weights, 1, 12, workers);
  decoder.add(prompt);
  EXPECT_EQ(decoder.total_delay_ns(), 0);
  decoder.begin();
  decoder.slow_down(SlowLayer{kTiny.layers, 50});  // there is no such layer
  decoder.add(prompt);
  EXPECT_EQ(decoder.total_delay_ns(), 0);
  decoder.begin();
  decoder.slow_down(SlowLayer{1, 50});
  const auto& recorded = testing::record_annotations();
  decoder.add(prompt);
  int64_t in_layer = 0;
  for (const auto& each : recorded.operators) {
    if (each.within == std::vector<std::string>{"layer_01"})
      in_layer += each.end_ns - each.start_ns;
  }
  EXPECT_GT(decoder.total_delay_ns(), 0);
  // The rest of their time is a fiftieth.
  EXPECT_NEAR(static_cast<double>(decoder.total_delay_ns()),
              static_cast<double>(in_layer) * 49 / 50, static_cast<double>(in_layer) / 20);
  decoder.slow_down(std::nullopt);
  decoder.begin();
  const int64_t before = decoder.total_delay_ns();
  decoder.add(prompt);
  EXPECT_EQ(decoder.total_delay_ns(), before);
}

TEST(Decoder, ANewRequestRemembersNothing) {
  Workers workers(1);
  const Weights weights = random_weights(kTiny, 5, workers);
  Decoder decoder(weights, 1, 12, workers);
  const auto prompt = random_prompts(6, 1, kTiny.vocabulary, 1, 0);
  const auto other = random_prompts(6, 1, kTiny.vocabulary, 1, 1);
  ASSERT_NE(prompt, other);
  const auto first = run_request(decoder, prompt, 1, 6).tokens;
  run_request(decoder, other, 1, 6);
  EXPECT_EQ(run_request(decoder, prompt, 1, 6).tokens, first);
}

std::vector<Token> tokens_of(uint64_t seed, size_t threads) {
  Workers workers(threads);
  const Weights weights = random_weights(kGrouped, seed, workers);
  Decoder decoder(weights, 2, 80, workers);
  const auto prompts = random_prompts(40, 2, kGrouped.vocabulary, seed, 0);
  return run_request(decoder, prompts, 2, 40).tokens;
}

TEST(Decoder, TokensDependOnTheSeedAlone) {
  const auto tokens = tokens_of(1, 1);
  ASSERT_EQ(tokens.size(), 2 * 40U);
  EXPECT_EQ(tokens_of(1, 2), tokens);
  EXPECT_EQ(tokens_of(1, 5), tokens);
  EXPECT_NE(tokens_of(2, 1), tokens);
}

TEST(Decoder, TokensVary) {
  const auto tokens = tokens_of(1, 1);
  EXPECT_GT(std::set<Token>(tokens.begin(), tokens.end()).size(), tokens.size() / 4);
}

TEST(Decoder, LogitsOfADeepModelStayFinite) {
  ModelShape shape = kTiny;
  shape.layers = 60;
  Workers workers(1);
  const Weights weights = random_weights(shape, 1, workers);
  Decoder decoder(weights, 1, 10, workers);
  double squares = 0;
  for (const float logit : decoder.add(random_prompts(10, 1, shape.vocabulary, 1, 0))) {
    squares += static_cast<double>(logit) * static_cast<double>(logit);
  }
  const double spread = std::sqrt(squares / static_cast<double>(shape.vocabulary));
  EXPECT_GT(spread, 0.1);
  EXPECT_LT(spread, 10);
}

}  // namespace
}  // namespace cpu_llm
