#include "base/quantiles.h"

#include <gtest/gtest.h>

namespace llmprof {
namespace {

// From tables of Student's distribution.
TEST(StudentT, QuantilesAreRatherTooWide) {
  EXPECT_DOUBLE_EQ(student_t_975(1), 12.706);
  EXPECT_DOUBLE_EQ(student_t_975(4.9), 2.776);
  EXPECT_DOUBLE_EQ(student_t_975(30), 2.042);
  EXPECT_DOUBLE_EQ(student_t_975(39), 2.042);
  EXPECT_DOUBLE_EQ(student_t_975(100), 2.000);
  EXPECT_DOUBLE_EQ(student_t_975(1e6), 1.962);
}

}  // namespace
}  // namespace llmprof
