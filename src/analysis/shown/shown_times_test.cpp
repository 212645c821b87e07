#include "analysis/shown/shown_times.h"

#include <gtest/gtest.h>

#include "testing/sample_profile.h"

namespace llmprof::analysis::shown {
namespace {

profile::Typical typical(std::vector<double> milliseconds) {
  return shown_times(testing::times(std::move(milliseconds))).typical;
}

TEST(ShownTimes, TheMeanIsTypicalOfValuesThatAreAlike) {
  EXPECT_EQ(typical({6.0, 6.2}), profile::Typical::mean);
  EXPECT_EQ(typical({6.0}), profile::Typical::mean);
}

TEST(ShownTimes, TheRangeIsTypicalOfAFew) {
  EXPECT_EQ(typical({8.4, 60.9}), profile::Typical::range);  // mean 34.65 with a deviation of 37.1
  // Deviation 0.22 of the mean, yet 1.6 times the shortest.
  EXPECT_EQ(typical({10, 13, 16}), profile::Typical::range);
  EXPECT_EQ(typical({10, 12, 14}), profile::Typical::mean);
}

TEST(ShownTimes, TheMedianIsTypicalOfMany) {
  EXPECT_EQ(typical({50, 60, 60, 65, 180}), profile::Typical::median);
}

TEST(ShownTimes, WithoutValuesHaveNoSpread) {
  EXPECT_EQ(shown_times({}).typical, profile::Typical::mean);
  EXPECT_FALSE(shown_times({}).mean);
}

}  // namespace
}  // namespace llmprof::analysis::shown
