#include <gtest/gtest.h>

#include "report/format/figures.h"
#include "testing/sample_profile.h"

namespace llmprof::report {
namespace {

profile::ShownTimes times(std::vector<double> milliseconds, profile::Typical typical) {
  return {testing::times(std::move(milliseconds)), typical};
}

TEST(Typical, IsTheMeanOfValuesThatAreAlike) {
  EXPECT_EQ(typical_ms(times({6.0, 6.2}, profile::Typical::mean), "prefill"), "6.100 ms");
  EXPECT_EQ(typical_ms(times({6.0}, profile::Typical::mean), "prefill"), "6.000 ms");
}

TEST(Typical, IsTheRangeOfAFew) {
  EXPECT_EQ(typical_ms(times({8.4, 60.9}, profile::Typical::range), "prefill"),
            "8.400 to 60.900 ms (2 prefills)");
}

TEST(Typical, IsTheMedianOfMany) {
  EXPECT_EQ(typical_ms(times({50, 60, 60, 65, 180}, profile::Typical::median), "engine step"),
            "60.000 ms (median; 50.000 to 180.000 ms in 5 engine steps)");
}

TEST(Typical, SaysWhatItIsOf) {
  const profile::ShownTimes mean = times({6.0, 6.2}, profile::Typical::mean);
  EXPECT_EQ(typical_text(mean), "6.100");
  EXPECT_EQ(typical_of(mean, "prefill"), "mean of 2 prefills");
  const profile::ShownTimes range = times({8.4, 60.9}, profile::Typical::range);
  EXPECT_EQ(typical_text(range), "8.400 to 60.900");
  EXPECT_EQ(typical_of(range, "prefill"), "range of 2 prefills");
  const profile::ShownTimes median = times({50, 60, 60, 65, 180}, profile::Typical::median);
  EXPECT_EQ(typical_text(median), "60.000");
  EXPECT_DOUBLE_EQ(typical_value(median)->value, 60);
  EXPECT_EQ(typical_of(median, "step"), "median of 5 steps; 50.000 to 180.000 ms");
}

TEST(Typical, IsMissingWithoutValues) { EXPECT_EQ(range_ms({}), "-"); }

}  // namespace
}  // namespace llmprof::report
