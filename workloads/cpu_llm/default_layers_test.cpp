#include "cpu_llm/default_layers.h"

#include <gtest/gtest.h>

#include "cpu_llm/weights.h"

namespace cpu_llm {
namespace {

constexpr size_t kMegabyte = 1'000'000;
constexpr size_t kPlenty = size_t{1} << 40U;

size_t bytes_of(size_t layers) {
  ModelShape shape;
  shape.layers = layers;
  return weights_bytes(shape);
}

// A layer has 768 x 2048 + 3 x 768 x 2048 + 2 x 768 numbers of 4 bytes, 25.171968 MB; the rest
// of the model has 50.33472 MB. `llmprof run` finds the same (src/session/outgrow_cache_test.cpp).
TEST(DefaultLayers, MakeFourCaches) {
  EXPECT_EQ(default_layers(32 * kMegabyte, kPlenty), 8U);
  EXPECT_EQ(default_layers(62'927'616, kPlenty), 8U);
  EXPECT_EQ(default_layers(62'927'617, kPlenty), 9U);
  EXPECT_EQ(default_layers(114 * kMegabyte, kPlenty), 17U);
  EXPECT_EQ(default_layers(256 * kMegabyte, kPlenty), 39U);
  EXPECT_EQ(default_layers(1000 * kMegabyte, kPlenty), 157U);
  for (const size_t cache : {32U, 114U, 256U, 1000U}) {
    const size_t layers = default_layers(cache * kMegabyte, kPlenty);
    EXPECT_GE(bytes_of(layers), 4 * cache * kMegabyte) << cache;
    if (layers > 8) {
      EXPECT_LT(bytes_of(layers - 1), 4 * cache * kMegabyte) << cache;
    }
  }
}

TEST(DefaultLayers, LeaveHalfOfTheMemory) {
  EXPECT_EQ(default_layers(1000 * kMegabyte, 2000 * kMegabyte), 37U);
  EXPECT_LE(bytes_of(37), 1000 * kMegabyte);
  EXPECT_GT(bytes_of(38), 1000 * kMegabyte);
}

TEST(DefaultLayers, AreEightWhereNothingIsKnown) { EXPECT_EQ(default_layers(std::nullopt, 0), 8U); }

}  // namespace
}  // namespace cpu_llm
