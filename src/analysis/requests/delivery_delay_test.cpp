#include "analysis/requests/delivery_delay.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace llmprof::analysis {
namespace {

constexpr Nanoseconds kPeriodNs = 10'000'000;

// Batches every 10 ms, with rows that do not repeat; each row's token arrives so long after.
struct Delivered {
  explicit Delivered(Nanoseconds delay, uint32_t count = 200) {
    for (uint32_t i = 0; i < count; ++i) {
      const uint64_t rows = 1 + (i * i * 7 + i / 3) % 5;
      batches.push_back({(i + 1) * kPeriodNs, rows, false, false});
      for (uint64_t row = 0; row < rows; ++row) {
        chunks.push_back({batches.back().results + delay, 1});
      }
    }
  }
  [[nodiscard]] Nanoseconds found() const { return shortest_delay(batches, chunks); }

  std::vector<JoinBatch> batches;
  std::vector<TokenChunk> chunks;
};

TEST(DeliveryDelay, IsNotNeededWithinABatch) {
  EXPECT_EQ(Delivered(0).found(), 0);
  EXPECT_EQ(Delivered(3'000'000).found(), 0);
  EXPECT_EQ(Delivered(9'900'000).found(), 0);
}

// Tokens arrive in the fourth batch after their own. Delays are tried in steps of 1.25 ms; the
// first one with which each batch has its own tokens is the first above 37 - 10 ms.
TEST(DeliveryDelay, IsTheShortestThatFitsTheRows) {
  EXPECT_EQ(Delivered(37'000'000).found(), 27'500'000);
  EXPECT_EQ(Delivered(12'000'000).found(), 2'500'000);
}

TEST(DeliveryDelay, CountsTokensOfAChunk) {
  Delivered load(37'000'000);
  load.chunks.clear();
  for (const JoinBatch& batch : load.batches) {
    load.chunks.push_back({batch.results + 37'000'000, static_cast<uint32_t>(*batch.rows)});
  }
  EXPECT_EQ(load.found(), 27'500'000);
}

// Batches whose rows are unknown say nothing.
TEST(DeliveryDelay, IsFoundByKnownRowsAlone) {
  Delivered load(37'000'000);
  for (size_t i = 0; i < load.batches.size(); i += 3) load.batches[i].rows.reset();
  EXPECT_EQ(load.found(), 27'500'000);
  for (JoinBatch& batch : load.batches) batch.rows.reset();
  EXPECT_EQ(load.found(), 0);
}

TEST(DeliveryDelay, NeedsBatchesAndTokens) {
  EXPECT_EQ(Delivered(37'000'000, 7).found(), 0);
  const Delivered load(37'000'000);
  EXPECT_EQ(shortest_delay({}, load.chunks), 0);
  EXPECT_EQ(shortest_delay(load.batches, {}), 0);
}

}  // namespace
}  // namespace llmprof::analysis
