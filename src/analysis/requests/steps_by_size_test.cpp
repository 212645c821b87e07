#include "analysis/requests/steps_by_size.h"

#include <gtest/gtest.h>

#include "testing/joined_load.h"

namespace llmprof::analysis {
namespace {

constexpr Nanoseconds kStepMs = 1'000'000;
using Contexts = std::vector<std::optional<uint64_t>>;

// Request 0 has 100, 101 and 103 tokens before its batches 1 to 3, request 1 has 50 and 51 before 2
// and 3. Batch 4 has one of a prompt of unknown length, and batch 5 a token that no batch made.
TEST(StepsBySize, ContextsAreOfTheSequencesThatGetAToken) {
  JoinedLoad load;
  load.request(0, 100, 70, {{1, 20}, {2, 30, 2}, {3, 40}, {4, 50}, {kNoBatch, 60}, {6, 70}});
  load.request(0, 50, 40, {{2, 30}, {3, 40}});
  load.request(0, std::nullopt, 50, {{4, 50}});
  EXPECT_EQ(contexts_of_batches(load.client, load.join, 7),
            (Contexts{std::nullopt, 100, 151, 154, std::nullopt, std::nullopt, 106}));
}

// Decode batches of two rows take 10 and 12 ms; of three rows, 9 ms.
TEST(StepsBySize, MeasureFromResultsToResults) {
  JoinedLoad load;
  load.decode(2, 0);  // its start is unknown
  load.decode(2, 10 * kStepMs).decode(2, 22 * kStepMs);
  load.batch(StepKind::mixed, 3, 40 * kStepMs);
  load.decode(3, 100 * kStepMs).decode(3, 109 * kStepMs);  // the first one after a break
  load.decode(0, 111 * kStepMs).decode(std::nullopt, 113 * kStepMs);
  load.decode(2, 500 * kStepMs);  // after the last request
  std::vector<bool> breaks(9, false);
  breaks[4] = true;
  const Contexts contexts = {9, 100, 200, 9, 9, std::nullopt, 9, 9, 9};
  const auto floor = [](uint64_t rows, double context) {
    return std::optional(static_cast<Nanoseconds>(rows) * kStepMs +
                         static_cast<Nanoseconds>(context * 1e4));
  };
  const auto sizes = steps_by_size(load.engine, breaks, 0, 8, contexts, floor);
  ASSERT_EQ(sizes.size(), 2U);
  EXPECT_EQ(sizes[0].rows, 2U);
  EXPECT_EQ(sizes[0].steps, 2U);
  EXPECT_DOUBLE_EQ(sizes[0].wall.mean->value, 11);
  EXPECT_DOUBLE_EQ(sizes[0].wall.max->value, 12);
  EXPECT_DOUBLE_EQ(sizes[0].per_token->value, 5.5);
  EXPECT_DOUBLE_EQ(*sizes[0].context_tokens, 150);
  EXPECT_DOUBLE_EQ(sizes[0].floor->value, 2 + 1.5);
  EXPECT_EQ(sizes[1].rows, 3U);
  EXPECT_EQ(sizes[1].steps, 1U);
  EXPECT_DOUBLE_EQ(sizes[1].wall.mean->value, 9);
  EXPECT_DOUBLE_EQ(sizes[1].per_token->value, 3);
  EXPECT_FALSE(sizes[1].context_tokens);
  EXPECT_FALSE(sizes[1].floor);
}

// A batch with an unknown context counts, but not for the context.
TEST(StepsBySize, UnknownContextsAreLeftOut) {
  JoinedLoad load;
  load.decode(1, 0).decode(1, 4 * kStepMs).decode(1, 10 * kStepMs);
  const Contexts contexts = {0, 70, std::nullopt};
  const auto unknown = [](uint64_t, double) { return std::optional<Nanoseconds>(); };
  const auto sizes = steps_by_size(load.engine, {false, false, false}, 0, 3, contexts, unknown);
  ASSERT_EQ(sizes.size(), 1U);
  EXPECT_EQ(sizes[0].steps, 2U);
  EXPECT_DOUBLE_EQ(*sizes[0].context_tokens, 70);
  EXPECT_FALSE(sizes[0].floor);
}

}  // namespace
}  // namespace llmprof::analysis
