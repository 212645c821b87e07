#include "analysis/requests/prompts.h"

#include <gtest/gtest.h>

#include <map>

namespace llmprof::analysis {
namespace {

// An engine's passes, 10 ns each.
class PromptPasses {
 public:
  PromptPasses& batch() {
    EngineBatch& batch = engine_.batches.emplace_back();
    batch.first_pass = static_cast<uint32_t>(engine_.passes.size());
    return *this;
  }
  PromptPasses& pass(StepKind kind, std::optional<uint64_t> rows, std::optional<uint64_t> tokens) {
    const auto at = static_cast<Nanoseconds>(10 * engine_.passes.size());
    BatchPass pass;
    pass.kind = kind;
    pass.start = at;
    pass.end = at + 10;
    pass.rows = rows;
    pass.tokens = tokens;
    engine_.passes.push_back(pass);
    ++engine_.batches.back().passes;
    engine_.batches.back().end = {at + 10, at + 10};
    return *this;
  }
  [[nodiscard]] std::vector<PromptPart> parts(const std::vector<Prompt>& prompts,
                                              const std::vector<uint32_t>& decoded) const {
    return prompt_parts(engine_, prompts, decoded);
  }

 private:
  EngineBatches engine_;
};

// Tokens by pass and request.
std::map<std::pair<uint32_t, uint32_t>, uint64_t> by_pass(const std::vector<PromptPart>& parts) {
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> tokens;
  for (const PromptPart& part : parts) tokens[{part.pass, part.request}] += part.tokens;
  return tokens;
}

// Request 8 was evicted at 5 and comes back in batch 2; that request 7, sent later, ends before it
// does not mean that it went first: the batch before has the rest of what ends last.
TEST(PromptPartsTest, TheOrderOfAnEvictedSequenceIsUnknown) {
  PromptPasses engine;
  engine.batch().pass(StepKind::prefill, 0, 30);
  engine.batch().pass(StepKind::prefill, 1, 40);
  engine.batch().pass(StepKind::prefill, 1, 20);
  const std::vector<uint32_t> none(3, 0);
  const auto again = engine.parts({{7, 1, 8, 60}, {8, 2, 5, 30, true}}, none);
  const std::map<std::pair<uint32_t, uint32_t>, uint64_t> expected_again{
      {{0, 7}, 30}, {{1, 7}, 30}, {{1, 8}, 10}, {{2, 8}, 20}};
  EXPECT_EQ(by_pass(again), expected_again);
  const auto overtaken = engine.parts({{7, 1, 8, 60}, {8, 2, 5, 30}}, none);
  const std::map<std::pair<uint32_t, uint32_t>, uint64_t> expected_overtaken{
      {{0, 7}, 20}, {{1, 7}, 40}, {{0, 8}, 10}, {{2, 8}, 20}};
  EXPECT_EQ(by_pass(overtaken), expected_overtaken);
}

// A prompt of 1,500 tokens over two batches beside two sequences in decode; the prompt behind it
// starts in its last batch, and has its last 300 tokens in the next one.
TEST(PromptPartsTest, APromptThatEndsLaterTakesTheRestOfABatch) {
  PromptPasses engine;
  engine.batch().pass(StepKind::mixed, 2, 3).pass(StepKind::prefill, 0, 999);
  engine.batch().pass(StepKind::decode, 2, 2).pass(StepKind::prefill, 1, 500);
  engine.pass(StepKind::prefill, 0, 100);
  engine.batch().pass(StepKind::decode, 3, 3).pass(StepKind::prefill, 1, 300);
  const auto parts = engine.parts({{7, 1, -5, 1500}, {8, 2, -4, 400}}, {2, 2, 3});
  const std::map<std::pair<uint32_t, uint32_t>, uint64_t> expected{
      {{0, 7}, 1}, {{1, 7}, 999}, {{3, 7}, 500}, {{4, 8}, 100}, {{6, 8}, 300}};
  EXPECT_EQ(by_pass(parts), expected);
}

// The prompt of 300 tokens was sent during the first batch, of 1,000 tokens of the earlier prompt,
// and went before the rest of that.
TEST(PromptPartsTest, APromptThatOvertakesAnotherHasWhatItNeeds) {
  PromptPasses engine;
  engine.batch().pass(StepKind::prefill, 0, 1000);
  engine.batch().pass(StepKind::prefill, 1, 1000);
  engine.batch().pass(StepKind::prefill, 1, 200);
  const auto parts = engine.parts({{7, 2, -5, 1900}, {8, 1, 5, 300}}, {0, 0, 0});
  const std::map<std::pair<uint32_t, uint32_t>, uint64_t> expected{
      {{0, 7}, 1000}, {{1, 7}, 700}, {{1, 8}, 300}, {{2, 7}, 200}};
  EXPECT_EQ(by_pass(parts), expected);
}

// The prompt that goes on comes first in its batch: the pass that gives a token is the second.
TEST(PromptPartsTest, PassesThatGiveATokenShowTheOrder) {
  PromptPasses engine;
  engine.batch().pass(StepKind::prefill, 0, 200).pass(StepKind::prefill, 1, 50);
  engine.batch().pass(StepKind::prefill, 1, 100);
  const auto parts = engine.parts({{0, 0, -5, 50}, {1, 1, -5, 300}}, {0, 0});
  const std::map<std::pair<uint32_t, uint32_t>, uint64_t> expected{
      {{0, 1}, 200}, {{1, 0}, 50}, {{2, 1}, 100}};
  EXPECT_EQ(by_pass(parts), expected);
}

// A batch cannot hold a prompt that was sent after it.
TEST(PromptPartsTest, TokensFromBeforeARequestAreOfNobodyKnown) {
  PromptPasses engine;
  engine.batch().pass(StepKind::prefill, 1, 80);
  engine.batch().pass(StepKind::prefill, 1, 60);
  const auto parts = engine.parts({{0, 1, 15, 100}}, {0, 0});
  const std::map<std::pair<uint32_t, uint32_t>, uint64_t> expected{{{0, kNoRequest}, 80},
                                                                   {{1, 0}, 60}};
  EXPECT_EQ(by_pass(parts), expected);
}

// Two prompts fill a pass: the sequence that may have been evicted has at least its token.
TEST(PromptPartsTest, FirstPromptsComeBeforeThoseOfEvictedSequences) {
  PromptPasses engine;
  engine.batch().pass(StepKind::prefill, 3, 781);
  const auto parts = engine.parts({{0, 0, 5, 301, true}, {1, 0, -5, 80}, {2, 0, -4, 700}}, {0});
  const std::map<std::pair<uint32_t, uint32_t>, uint64_t> expected{
      {{0, 0}, 1}, {{0, 1}, 80}, {{0, 2}, 700}};
  EXPECT_EQ(by_pass(parts), expected);
}

// Without its length, a prompt has what others leave, and at least its last token.
TEST(PromptPartsTest, APromptOfUnknownLengthHasTheRest) {
  PromptPasses engine;
  engine.batch().pass(StepKind::prefill, 2, 90);
  const auto parts = engine.parts({{0, 0, -5, 60}, {1, 0, -4, std::nullopt}}, {0});
  uint64_t tokens = 0;
  for (const PromptPart& part : parts) {
    EXPECT_NE(part.request, kNoRequest);
    tokens += part.tokens;
  }
  EXPECT_EQ(tokens, 90U);
  EXPECT_EQ(parts.size(), 2U);
}

}  // namespace
}  // namespace llmprof::analysis
