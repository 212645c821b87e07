#include "collector/cuda/control/step_plan.h"

#include <gtest/gtest.h>

#include <vector>

namespace llmprof::collector {
namespace {

constexpr int64_t kMillisecond = 1'000'000;

TEST(DutyCycle, TracesTheFirstStepsOfEveryPeriod) {
  const DutyCycle duty = {2, 8};
  std::vector<uint64_t> traced;
  for (uint64_t step = 1; step <= 20; ++step) {
    if (duty.at(step, 0).traced) traced.push_back(step);
  }
  EXPECT_EQ(traced, (std::vector<uint64_t>{1, 2, 9, 10, 17, 18}));
}

TEST(DutyCycle, KnowsTheNextChangeFromAnyStep) {
  const DutyCycle duty = {2, 8};
  EXPECT_EQ(duty.at(1, 0).next_change, 3U);
  EXPECT_EQ(duty.at(2, 0).next_change, 3U);
  EXPECT_EQ(duty.at(3, 0).next_change, 9U);
  EXPECT_EQ(duty.at(8, 0).next_change, 9U);
  EXPECT_EQ(duty.at(9, 0).next_change, 11U);
}

TEST(DutyCycle, CountsFromWhereItWasArmed) {
  const DutyCycle duty = {1, 4};
  EXPECT_TRUE(duty.at(11, 10).traced);
  EXPECT_FALSE(duty.at(12, 10).traced);
  EXPECT_TRUE(duty.at(15, 10).traced);
}

TEST(StepLimit, EndsAfterItsSteps) {
  EXPECT_EQ(StepLimit{3}.end(10), 14U);
  EXPECT_EQ(StepLimit{0}.end(10), kNeverAgain);
}

TEST(OverheadBudget, AllowsAWindowWhenThereIsRoomForAnother) {
  OverheadBudget budget(0.1);
  budget.begin(0, 0);
  // The first window took 10 ms; with another like it and attaching, 35 ms are 10 % of 350 ms.
  const int64_t spent = (8 + 2) * kMillisecond;
  EXPECT_FALSE(budget.allows_window(349 * kMillisecond, spent));
  EXPECT_TRUE(budget.allows_window(350 * kMillisecond, spent));
  // Two windows of 20 ms each now: 40 + 20 + 15 ms.
  EXPECT_FALSE(budget.allows_window(749 * kMillisecond, 40 * kMillisecond));
  EXPECT_TRUE(budget.allows_window(750 * kMillisecond, 40 * kMillisecond));
}

TEST(OverheadBudget, IgnoresTheTimeBeforeTheFirstStep) {
  OverheadBudget budget(0.1);
  EXPECT_FALSE(budget.has_begun());
  budget.begin(1000 * kMillisecond, (500 + 300) * kMillisecond);
  EXPECT_TRUE(budget.has_begun());
  const int64_t spent = (508 + 302) * kMillisecond;
  EXPECT_FALSE(budget.allows_window(1349 * kMillisecond, spent));
  EXPECT_TRUE(budget.allows_window(1350 * kMillisecond, spent));
}

TEST(OverheadBudget, ARefusedWindowDoesNotCount) {
  OverheadBudget once(0.1);
  OverheadBudget often(0.1);
  once.begin(0, 0);
  often.begin(0, 0);
  const int64_t spent = 10 * kMillisecond;
  for (int64_t time = 1; time < 350; ++time) {
    EXPECT_FALSE(often.allows_window(time * kMillisecond, spent)) << time;
  }
  EXPECT_TRUE(often.allows_window(350 * kMillisecond, spent));
  EXPECT_TRUE(once.allows_window(350 * kMillisecond, spent));
}

TEST(OverheadBudget, IsOffAtZero) {
  EXPECT_FALSE(OverheadBudget().is_set());
  EXPECT_TRUE(OverheadBudget(0.01).is_set());
}

TEST(TimeWindow, LastsFromItsFirstLaunch) {
  TimeWindow window;
  window.open(0, 7, 0);
  EXPECT_FALSE(window.is_over(1000 * kMillisecond, 7)) << "nothing was launched in it";
  EXPECT_FALSE(window.is_over(1001 * kMillisecond, 8));
  EXPECT_FALSE(window.is_over(1050 * kMillisecond, 500));
  EXPECT_TRUE(window.is_over(1051 * kMillisecond, 500));
}

TEST(TimeWindow, CostsAShareOfItsTime) {
  constexpr int64_t kManyKernels = 1000 * kMillisecond;
  TimeWindow window;
  window.open(kMillisecond, 7, 0);
  EXPECT_FALSE(window.is_over(100 * kMillisecond, 8));
  window.close(180 * kMillisecond, 9, kManyKernels);
  EXPECT_EQ(window.cost(), 30 * kMillisecond);
  EXPECT_FALSE(window.is_open());
  window.close(900 * kMillisecond, 10, kManyKernels);
  EXPECT_EQ(window.cost(), 30 * kMillisecond) << "it was closed already";
  window.open(1000 * kMillisecond, 20, kManyKernels);
  window.close(2000 * kMillisecond, 20, 2 * kManyKernels);
  EXPECT_EQ(window.cost(), 30 * kMillisecond) << "nothing was launched in it";
}

TEST(SharedWindows, OpenAtTheSameStepsWhateverARankCanAfford) {
  SharedWindows rich(16);
  SharedWindows poor(16);
  poor.widen();
  poor.widen();
  std::vector<uint64_t> of_poor;
  for (uint64_t step = 1; step <= 200; ++step) {
    if (!poor.may_open(step)) continue;
    of_poor.push_back(step);
    EXPECT_TRUE(rich.may_open(step)) << step;
  }
  EXPECT_EQ(of_poor, (std::vector<uint64_t>{1, 65, 129, 193}));
}

TEST(SharedWindows, KnowTheNextStepFromAnyOther) {
  const SharedWindows windows(16);
  EXPECT_EQ(windows.next(1), 17U);
  EXPECT_EQ(windows.next(16), 17U);
  EXPECT_EQ(windows.next(17), 33U);
}

TEST(SharedWindows, OpenAtAnyStepWithoutAJob) {
  SharedWindows windows;
  windows.widen();
  EXPECT_TRUE(windows.may_open(7));
  EXPECT_EQ(windows.next(7), 8U);
}

TEST(TimeWindow, CostsNoMoreThanItsKernels) {
  TimeWindow window;
  window.open(kMillisecond, 7, 4 * kMillisecond);
  EXPECT_FALSE(window.is_over(10 * kMillisecond, 8));
  EXPECT_TRUE(window.is_over(410 * kMillisecond, 9));
  window.close(910 * kMillisecond, 9, 5 * kMillisecond);
  EXPECT_EQ(window.cost(), kMillisecond) << "a program that loads or compiles";
}

TEST(TimeWindow, CostsUntilItIsDetachedIfTheProgramContinues) {
  TimeWindow window;
  window.open(kMillisecond, 7, 0);
  EXPECT_FALSE(window.is_over(10 * kMillisecond, 8));
  EXPECT_TRUE(window.is_over(90 * kMillisecond, 900));
  window.close(170 * kMillisecond, 1800, 1000 * kMillisecond);
  EXPECT_EQ(window.cost(), 60 * kMillisecond);
}

}  // namespace
}  // namespace llmprof::collector
