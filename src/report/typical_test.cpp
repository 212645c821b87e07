#include "report/typical.h"

#include <gtest/gtest.h>

namespace llmprof::report {
namespace {

TEST(Typical, IsTheMeanOfValuesThatAreAlike) {
  EXPECT_EQ(typical_ms(analysis::summarise({6000000, 6200000}), "prefill"), "6.100 ms");
  EXPECT_EQ(typical_ms(analysis::summarise({6000000}), "prefill"), "6.000 ms");
}

// Mean 34.65 with a deviation of 37.1.
TEST(Typical, IsTheRangeOfAFew) {
  EXPECT_EQ(typical_ms(analysis::summarise({8400000, 60900000}), "prefill"),
            "8.400 to 60.900 ms (2 prefills)");
  // Deviation 0.22 of the mean, yet 1.6 times the shortest.
  EXPECT_TRUE(widely_spread(analysis::summarise({10000000, 13000000, 16000000})));
  EXPECT_FALSE(widely_spread(analysis::summarise({10000000, 12000000, 14000000})));
}

TEST(Typical, IsTheMedianOfMany) {
  const analysis::Statistics times =
      analysis::summarise({50000000, 60000000, 60000000, 65000000, 180000000});
  EXPECT_EQ(typical_ms(times, "engine step"),
            "60.000 ms (median; 50.000 to 180.000 ms in 5 engine steps)");
}

}  // namespace
}  // namespace llmprof::report
