#include "llm/layers_beyond_cache.h"

#include <gtest/gtest.h>

namespace llmprof::llm {
namespace {

constexpr size_t kPlenty = size_t{1} << 40U;

// Layers of 25 bytes and 50 others: eight layers make 250, four times 62.5.
constexpr EqualLayers kWeights = {8, 25, 50};

TEST(LayersBeyondCache, AreTheFewestWhereThoseAreFourCaches) {
  EXPECT_EQ(layers_beyond_cache(kWeights, std::nullopt, kPlenty), 8U);
  EXPECT_EQ(layers_beyond_cache(kWeights, 1, kPlenty), 8U);
  EXPECT_EQ(layers_beyond_cache(kWeights, 62, kPlenty), 8U);
}

TEST(LayersBeyondCache, GrowWithTheCache) {
  EXPECT_EQ(layers_beyond_cache(kWeights, 63, kPlenty), 9U);    // 252 <= 275
  EXPECT_EQ(layers_beyond_cache(kWeights, 100, kPlenty), 14U);  // 400 = 50 + 14 * 25
  EXPECT_EQ(layers_beyond_cache(kWeights, 101, kPlenty), 15U);
}

TEST(LayersBeyondCache, AreNoMoreThanHalfTheMemoryHolds) {
  EXPECT_EQ(layers_beyond_cache(kWeights, 1000, 1000), 18U);  // 50 + 18 * 25 = 500
  EXPECT_EQ(layers_beyond_cache(kWeights, 1000, 100), 8U);
  EXPECT_EQ(layers_beyond_cache(kWeights, 1000, 0), 158U);  // unknown memory
}

}  // namespace
}  // namespace llmprof::llm
