#include "base/machine.h"

#include <gtest/gtest.h>

namespace llmprof {
namespace {

constexpr std::string_view kStat =
    "cpu  147566 76878 14862 75729 360 0 57 584 0 0\n"
    "cpu0 72000 40000 7000 36833 310 0 40 200 9 9\n"
    "cpu1 75000 36000 7100 38896 50 1 9 290 0 0\n"
    "cpu10 1 1 1 1 1 1 1 1 0 0\n"
    "intr 1\n";

TEST(CpuTimes, AreThoseOfTheCpusThatAreAskedFor) {
  const auto first = cpu_times(kStat, {0}, 100);
  ASSERT_TRUE(first);
  // Excludes idle and disk waits; the first two columns already include guests (the last two).
  EXPECT_DOUBLE_EQ(first->busy, (72000 + 40000 + 7000 + 40 + 200) / 100.0);
  const auto both = cpu_times(kStat, {0, 1}, 100);
  ASSERT_TRUE(both);
  EXPECT_EQ(both->cpus, 2U);
  EXPECT_DOUBLE_EQ(both->busy, first->busy + (75000 + 36000 + 7100 + 1 + 9 + 290) / 100.0);
  EXPECT_FALSE(cpu_times(kStat, {2}, 100));
  EXPECT_FALSE(cpu_times(kStat, {}, 100));
  EXPECT_FALSE(cpu_times("", {0}, 100));
  EXPECT_FALSE(cpu_times("cpu 1\ncpu0 x y\n", {0}, 100));
}

TEST(CpuTimes, OfThisMachineGrowWithWork) {
  const auto before = usable_cpu_times();
  if (!before) GTEST_SKIP() << "no /proc/stat";
  const double own = own_cpu_seconds();
  volatile uint64_t sum = 0;
  while (own_cpu_seconds() < own + 0.1) sum = sum + 1;
  // A tick is 10 ms.
  EXPECT_GE(usable_cpu_times()->busy, before->busy + 0.05);
}

}  // namespace
}  // namespace llmprof
