#include "analysis/statistics/trend.h"

#include <gtest/gtest.h>

#include <vector>

namespace llmprof::analysis {
namespace {

TEST(Trend, OfFewValuesIsUnknown) {
  EXPECT_FALSE(find_trend(std::vector<double>(9, 1.0)));
  EXPECT_TRUE(find_trend(std::vector<double>(10, 1.0)));
}

TEST(Trend, OfAConstantIsNone) {
  const Trend trend = *find_trend(std::vector<double>(40, 7.0));
  EXPECT_EQ(trend.slope, 0);
  EXPECT_EQ(trend.lower, 0);
  EXPECT_EQ(trend.upper, 0);
}

TEST(Trend, OfALineIsItsSlope) {
  std::vector<double> values;
  for (int i = 0; i < 30; ++i) values.push_back(100 + 2.5 * i);
  const Trend trend = *find_trend(values);
  EXPECT_DOUBLE_EQ(trend.slope, 2.5);
  EXPECT_DOUBLE_EQ(trend.lower, 2.5);
  EXPECT_DOUBLE_EQ(trend.upper, 2.5);
}

// Worked out in plain Python: of 105 slopes, Kendall's variance gives the ranks 32 and 72.
TEST(Trend, HasTheRanksOfKendallsVariance) {
  const std::vector<double> values = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9};
  const Trend trend = *find_trend(values);
  EXPECT_DOUBLE_EQ(trend.slope, 4.0 / 9);
  EXPECT_DOUBLE_EQ(trend.lower, 1.0 / 5);
  EXPECT_DOUBLE_EQ(trend.upper, 8.0 / 11);
}

TEST(Trend, ASingleJumpIsNone) {
  std::vector<double> values(40, 10.0);
  for (size_t i = 12; i < values.size(); ++i) values[i] = 500;
  EXPECT_EQ(find_trend(values)->lower, 0);
}

TEST(Trend, StairsAreOne) {
  std::vector<double> values;
  for (int i = 0; i < 48; ++i) values.push_back(i / 8);
  const Trend trend = *find_trend(values);
  EXPECT_GT(trend.lower, 0);
  EXPECT_NEAR(trend.slope, 1.0 / 8, 0.02);
}

TEST(Trend, OfALongSeriesIsThatOfItsThinnedOne) {
  std::vector<double> values;
  for (int i = 0; i < 100'000; ++i) values.push_back(3.0 * i);
  EXPECT_DOUBLE_EQ(find_trend(values)->slope, 3);
}

}  // namespace
}  // namespace llmprof::analysis
