#include "analysis/statistics/line_fit.h"

#include <gtest/gtest.h>

#include <array>

namespace llmprof::analysis {
namespace {

TEST(LineFitTest, PointsOnALineGiveIt) {
  const auto line = fit_line(std::array<MeasuredPoint, 3>{{{1, 5}, {2, 7}, {4, 11}}});
  ASSERT_TRUE(line);
  EXPECT_DOUBLE_EQ(line->intercept, 3);
  EXPECT_DOUBLE_EQ(line->slope, 2);
  EXPECT_DOUBLE_EQ(line->at(10), 23);
}

// Means 1 and 2; spread 2, together 3.
TEST(LineFitTest, OthersHaveTheLeastSquares) {
  const auto line = fit_line(std::array<MeasuredPoint, 3>{{{0, 1}, {1, 1}, {2, 4}}});
  ASSERT_TRUE(line);
  EXPECT_DOUBLE_EQ(line->slope, 1.5);
  EXPECT_DOUBLE_EQ(line->intercept, 0.5);
}

TEST(LineFitTest, OneXHasNoLine) {
  EXPECT_FALSE(fit_line({}));
  EXPECT_FALSE(fit_line(std::array<MeasuredPoint, 2>{{{3, 1}, {3, 2}}}));
}

}  // namespace
}  // namespace llmprof::analysis
