#include "report/format/typical.h"

#include <gtest/gtest.h>

#include "testing/sample_profile.h"

namespace llmprof::report {
namespace {

using testing::times;

TEST(Typical, IsTheMeanOfValuesThatAreAlike) {
  EXPECT_EQ(typical_ms(times({6.0, 6.2}), "prefill"), "6.100 ms");
  EXPECT_EQ(typical_ms(times({6.0}), "prefill"), "6.000 ms");
}

// Mean 34.65 with a deviation of 37.1.
TEST(Typical, IsTheRangeOfAFew) {
  EXPECT_EQ(typical_ms(times({8.4, 60.9}), "prefill"), "8.400 to 60.900 ms (2 prefills)");
  // Deviation 0.22 of the mean, yet 1.6 times the shortest.
  EXPECT_TRUE(widely_spread(times({10, 13, 16})));
  EXPECT_FALSE(widely_spread(times({10, 12, 14})));
}

TEST(Typical, IsTheMedianOfMany) {
  EXPECT_EQ(typical_ms(times({50, 60, 60, 65, 180}), "engine step"),
            "60.000 ms (median; 50.000 to 180.000 ms in 5 engine steps)");
}

TEST(Typical, SaysWhatItIsOf) {
  const Typical mean = typical(times({6.0, 6.2}), "prefill");
  EXPECT_EQ(mean.text, "6.100");
  EXPECT_EQ(mean.of, "mean of 2 prefills");
  const Typical range = typical(times({8.4, 60.9}), "prefill");
  EXPECT_EQ(range.text, "8.400 to 60.900");
  EXPECT_EQ(range.of, "range of 2 prefills");
  const Typical median = typical(times({50, 60, 60, 65, 180}), "pass", "passes");
  EXPECT_EQ(median.text, "60.000");
  EXPECT_DOUBLE_EQ(median.exact->value, 60);
  EXPECT_EQ(median.of, "median of 5 passes; 50.000 to 180.000 ms");
}

TEST(Typical, IsMissingWithoutValues) {
  EXPECT_FALSE(widely_spread({}));
  EXPECT_EQ(range_ms({}), "-");
}

}  // namespace
}  // namespace llmprof::report
