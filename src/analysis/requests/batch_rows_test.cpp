#include "analysis/requests/batch_rows.h"

#include <gtest/gtest.h>

#include "testing/joined_load.h"

namespace llmprof::analysis {
namespace {

BatchRows rows_of(const JoinedLoad& load, const std::vector<PromptPart>& parts = {},
                  const std::vector<Prompt>& prompts = {}) {
  return count_rows(load.engine, load.client, load.join, parts, prompts);
}

// Batches 0 and 5 are before the first request and after the end of the last. Batch 2 has a row of
// another client; the rows of batch 3 are unknown.
TEST(BatchRows, CountBatchesWhileRequestsWereSent) {
  JoinedLoad load;
  load.decode(3, 10).batch(StepKind::mixed, 2, 20).decode(3, 30);
  load.decode(std::nullopt, 40).decode(1, 50).decode(1, 60);
  load.request(12, 64, 52, {{1, 21}, {2, 31}, {3, 41}, {4, 51}});
  load.request(15, 64, 41, {{1, 21}, {2, 31}}).not_counted();
  const BatchRows rows = rows_of(load);
  EXPECT_EQ(rows.first, 1U);
  EXPECT_EQ(rows.behind, 5U);
  EXPECT_EQ(rows.rows, 2U + 3U + 1U + 1U);
  EXPECT_EQ(rows.joined, 4U);
  EXPECT_EQ(rows.joined_by_batch, (std::vector<uint32_t>{0, 1, 1, 1, 1, 0}));
  EXPECT_EQ(rows.named, 2U);  // tokens of the request that warmed up
}

TEST(BatchRows, NoRequestsHaveNoRows) {
  JoinedLoad load;
  load.decode(3, 10);
  const BatchRows rows = rows_of(load);
  EXPECT_EQ(rows.first, 0U);
  EXPECT_EQ(rows.behind, 0U);
  EXPECT_EQ(rows.rows, 0U);
  EXPECT_EQ(rows.joined_by_batch, std::vector<uint32_t>{0});
}

// The join may give a batch more tokens than it has rows.
TEST(BatchRows, ABatchHasAtLeastItsTokens) {
  JoinedLoad load;
  load.decode(1, 10);
  load.request(0, 4, 12, {{0, 11}}).request(0, 4, 12, {{0, 11}});
  const BatchRows rows = rows_of(load);
  EXPECT_EQ(rows.rows, 2U);
  EXPECT_EQ(rows.joined, 2U);
}

// Request 1 got its last token of batch 0. The engine decodes it up to batch 2.
TEST(BatchRows, ARequestThatBrokeOffStaysForSomeBatches) {
  JoinedLoad load;
  load.batch(StepKind::prefill, 2, 10).decode(2, 20).decode(2, 30).decode(1, 40).decode(2, 50);
  load.request(0, 4, 52, {{0, 11}, {1, 21}, {2, 31}, {3, 41}, {4, 51}});
  load.request(0, 4, 15, {{0, 11}}).not_counted();
  const BatchRows rows = rows_of(load);
  EXPECT_EQ(rows.rows, 9U);
  EXPECT_EQ(rows.joined, 5U);
  EXPECT_EQ(rows.named, 3U);  // the second row of batch 4 has no known request
}

// It was sent at 12: batch 0 has room and takes prompts, but was before; batch 1 takes none.
TEST(BatchRows, ARequestWithoutATokenIsInABatchWithPromptsAndRoom) {
  JoinedLoad load;
  load.batch(StepKind::mixed, 2, 10).decode(2, 20).batch(StepKind::mixed, 2, 30).decode(1, 40);
  load.request(0, 4, 42, {{0, 11}, {1, 21}, {2, 31}, {3, 41}});
  load.request(12, 4, 25, {}).not_counted();
  EXPECT_EQ(rows_of(load).named, 1U);
  load.engine.passes[2].rows = 1;
  EXPECT_EQ(rows_of(load).named, 0U);
}

// Request 1's prompt is in batches 1, in two passes, and 2; its first token is of batch 3. Another
// prompt has no known request.
TEST(BatchRows, APromptThatContinuesIsASequence) {
  JoinedLoad load;
  load.batch(StepKind::prefill, 1, 10);
  for (const Nanoseconds results : {20, 30, 40}) load.batch(StepKind::mixed, 2, results);
  load.request(0, 4, 42, {{0, 11}, {1, 21}, {2, 31}, {3, 41}});
  load.request(12, 90, 42, {{3, 41}});
  const std::vector<PromptPart> parts = {
      {1, 1, 1, 30}, {1, 1, 1, 10}, {2, 2, 1, 30}, {2, 2, kNoRequest, 5}, {3, 3, 1, 20}};
  const BatchRows rows = rows_of(load, parts, {{0, 0, 0, 4, false}, {1, 3, 12, 90, false}});
  EXPECT_EQ(rows.rows, 7U);
  EXPECT_EQ(rows.joined, 5U);
  EXPECT_EQ(rows.named, 2U);
}

TEST(BatchRows, AChunkOfSeveralTokensIsOfSeveralBatchesUnlessOneMakesThemAll) {
  JoinedLoad load;
  load.decode(1, 10).decode(1, 20).decode(1, 30);
  load.request(0, 4, 32, {{0, 11}, {2, 31, 2}});
  EXPECT_EQ(rows_of(load).joined_by_batch, (std::vector<uint32_t>{1, 1, 1}));
  load.join.token_per_batch = false;
  EXPECT_EQ(rows_of(load).joined_by_batch, (std::vector<uint32_t>{1, 0, 1}));
}

}  // namespace
}  // namespace llmprof::analysis
