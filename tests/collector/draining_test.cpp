#include "collector/cuda/control/step_plan.h"

#include <gtest/gtest.h>

namespace llmprof::collector {
namespace {

constexpr int64_t kMillisecond = 1'000'000;
constexpr int64_t kBegin = 5'000'000'000;
constexpr uint64_t kLastLaunch = 100;

Draining begun() {
  Draining draining;
  draining.begin(kBegin, kLastLaunch, wire::TracingReason::command);
  return draining;
}

TEST(Draining, WaitsForTheLastLaunchAndThenForOtherStreams) {
  Draining draining = begun();
  EXPECT_FALSE(draining.is_complete(kBegin + 100 * kMillisecond, kLastLaunch - 1));
  EXPECT_FALSE(draining.is_complete(kBegin + 105 * kMillisecond, kLastLaunch));
  EXPECT_FALSE(draining.is_complete(kBegin + 114 * kMillisecond, kLastLaunch));
  EXPECT_TRUE(draining.is_complete(kBegin + 115 * kMillisecond, kLastLaunch + 7));
}

TEST(Draining, GivesUpAfterTwoSeconds) {
  Draining draining = begun();
  EXPECT_FALSE(draining.is_complete(kBegin + 1999 * kMillisecond, kLastLaunch - 1));
  EXPECT_TRUE(draining.is_complete(kBegin + 2000 * kMillisecond, kLastLaunch - 1));
}

TEST(Draining, IsOverdueAfterHalfASecond) {
  const Draining draining = begun();
  EXPECT_FALSE(draining.is_overdue(kBegin + 499 * kMillisecond));
  EXPECT_TRUE(draining.is_overdue(kBegin + 500 * kMillisecond));
}

TEST(Draining, StartsOver) {
  Draining draining = begun();
  EXPECT_FALSE(draining.is_complete(kBegin, kLastLaunch));
  const int64_t again = kBegin + 1000 * kMillisecond;
  draining.begin(again, kLastLaunch + 50, wire::TracingReason::step_limit);
  EXPECT_EQ(draining.reason(), wire::TracingReason::step_limit);
  EXPECT_FALSE(draining.is_overdue(again));
  EXPECT_FALSE(draining.is_complete(again, kLastLaunch));
  EXPECT_FALSE(draining.is_complete(again, kLastLaunch + 50));
  EXPECT_TRUE(draining.is_complete(again + 10 * kMillisecond, kLastLaunch + 50));
}

}  // namespace
}  // namespace llmprof::collector
