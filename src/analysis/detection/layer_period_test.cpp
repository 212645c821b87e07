#include "analysis/detection/repeats.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <vector>

namespace llmprof::analysis {
namespace {

using Tokens = std::vector<uint32_t>;

// `length` distinct kernels, like a layer.
Tokens distinct(uint32_t first, size_t length) {
  Tokens tokens(length);
  std::iota(tokens.begin(), tokens.end(), first);
  return tokens;
}

Tokens& append(Tokens& tokens, const Tokens& more) {
  tokens.insert(tokens.end(), more.begin(), more.end());
  return tokens;
}

// A layer of 63 kernels with 20 names, as in eager PyTorch.
Tokens eager_layer() {
  Tokens layer;
  for (uint32_t i = 0; i < 63; ++i) layer.push_back(i % 3 == 0 ? 1 : 2 + (i * 7) % 19);
  return layer;
}

TEST(LayerPeriodTest, FindsEightLayersOf63InAStepOf517) {
  Tokens step{900, 901};
  for (int layer = 0; layer < 8; ++layer) append(step, eager_layer());
  append(step, distinct(910, 11));
  ASSERT_EQ(step.size(), 517U);

  const auto layers = find_layer_period(step);
  ASSERT_TRUE(layers);
  EXPECT_EQ(layers->begin, 2U);
  EXPECT_EQ(layers->period, 63U);
  EXPECT_EQ(layers->count, 8U);
  EXPECT_EQ(layers->agreement, 1.0);
}

TEST(LayerPeriodTest, FinalNormLikeALayersFirstKernelsMovesNothing) {
  const Tokens layer = eager_layer();
  Tokens step{900};
  for (int i = 0; i < 8; ++i) append(step, layer);
  step.insert(step.end(), layer.begin(), layer.begin() + 6);
  append(step, {901, 902});

  const auto layers = find_layer_period(step);
  ASSERT_TRUE(layers);
  EXPECT_EQ(layers->begin, 1U);
  EXPECT_EQ(layers->count, 8U);
}

TEST(LayerPeriodTest, FirstLayerMayDifferALittle) {
  Tokens first = distinct(100, 40);
  first[0] = 500;
  first[1] = 501;
  first[20] = 502;
  Tokens step{900, 901, 902};
  append(step, first);
  for (int i = 0; i < 11; ++i) append(step, distinct(100, 40));
  append(step, {910, 911, 912, 913});

  const auto layers = find_layer_period(step);
  ASSERT_TRUE(layers);
  EXPECT_EQ(layers->begin, 3U);
  EXPECT_EQ(layers->period, 40U);
  EXPECT_EQ(layers->count, 12U);
  // 3 of the 11 x 40 kernels after the first layer differ from the previous layer.
  EXPECT_NEAR(layers->agreement, 1 - 3.0 / 440, 1e-9);
}

TEST(LayerPeriodTest, LastLayerMayDifferALittle) {
  Tokens last = distinct(100, 40);
  last[20] = 502;  // only for the last token: another GEMM
  last[30] = 503;
  Tokens step{900, 901, 902};
  for (int i = 0; i < 11; ++i) append(step, distinct(100, 40));
  append(step, last);
  append(step, {910, 911, 912, 913});

  const auto layers = find_layer_period(step);
  ASSERT_TRUE(layers);
  EXPECT_EQ(layers->begin, 3U);
  EXPECT_EQ(layers->period, 40U);
  EXPECT_EQ(layers->count, 12U);
  EXPECT_NEAR(layers->agreement, 1 - 2.0 / 440, 1e-9);
}

TEST(LayerPeriodTest, AFirstLayerOfAnotherKindIsLeftOut) {
  Tokens step{900, 901};
  append(step, distinct(700, 30));  // dense
  for (int i = 0; i < 11; ++i) append(step, distinct(100, 70));
  append(step, {910, 911});

  const auto layers = find_layer_period(step);
  ASSERT_TRUE(layers);
  EXPECT_EQ(layers->begin, 32U);
  EXPECT_EQ(layers->period, 70U);
  EXPECT_EQ(layers->count, 11U);
}

TEST(LayerPeriodTest, LayersThatAlternateInOneKernelAreSingleLayers) {
  Tokens sliding = distinct(100, 24);
  Tokens full = sliding;
  full[10] = 300;
  Tokens step{900};
  for (int i = 0; i < 12; ++i) append(append(step, sliding), full);
  append(step, {910, 911});

  const auto layers = find_layer_period(step);
  ASSERT_TRUE(layers);
  EXPECT_EQ(layers->period, 24U);
  EXPECT_EQ(layers->count, 24U);
}

TEST(LayerPeriodTest, LayersThatAlternateInLengthAreTakenInPairs) {
  Tokens step{900};
  for (int i = 0; i < 12; ++i) append(append(step, distinct(100, 20)), distinct(200, 31));
  append(step, {910, 911});

  const auto layers = find_layer_period(step);
  ASSERT_TRUE(layers);
  EXPECT_EQ(layers->period, 51U);
  EXPECT_EQ(layers->count, 12U);
}

TEST(LayerPeriodTest, ALoopOverExpertsIsNoLayer) {
  Tokens step{900};
  for (int layer = 0; layer < 6; ++layer) {
    append(step, distinct(100, 25));
    for (int expert = 0; expert < 16; ++expert) append(step, distinct(200, 9));
  }
  append(step, {910, 911});

  const auto layers = find_layer_period(step);
  ASSERT_TRUE(layers);
  EXPECT_EQ(layers->period, 25U + 16U * 9U);
  EXPECT_EQ(layers->count, 6U);
}

TEST(LayerPeriodTest, AnExtraKernelInOneLayerCostsAtMostTheOtherSide) {
  Tokens step{900};
  for (int layer = 0; layer < 16; ++layer) {
    append(step, distinct(100, 30));
    if (layer == 2) step.push_back(999);
  }
  const auto layers = find_layer_period(step);
  ASSERT_TRUE(layers);
  EXPECT_EQ(layers->period, 30U);
  EXPECT_GE(layers->count, 13U);
}

TEST(LayerPeriodTest, NothingRepeats) {
  EXPECT_FALSE(find_layer_period({}));
  EXPECT_FALSE(find_layer_period(Tokens{1}));
  EXPECT_FALSE(find_layer_period(distinct(1, 500)));
  std::mt19937 random(1);
  Tokens noise(2000);
  for (uint32_t& token : noise) token = static_cast<uint32_t>(random() % 40);
  EXPECT_FALSE(find_layer_period(noise));
}

TEST(LayerPeriodTest, LessThanHalfRepeats) {
  Tokens step = distinct(1000, 300);
  for (int i = 0; i < 4; ++i) append(step, distinct(1, 50));
  EXPECT_FALSE(find_layer_period(step));
}

}  // namespace
}  // namespace llmprof::analysis
