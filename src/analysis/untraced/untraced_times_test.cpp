#include "analysis/untraced/untraced_times.h"

#include <gtest/gtest.h>

#include "testing/timed_requests.h"

namespace llmprof::analysis {
namespace {

// A prefill of 10 ms: 1 ms before its first kernel, 4 ms GEMM, 2 ms elementwise, 3 ms after.
class UntracedByWorkload : public ::testing::Test {
 protected:
  UntracedByWorkload() {
    t.instance(t.stage("prefill"), 0, 10'000'000);
    t.kernel("gemm", 1'000'000, 5'000'000);
    t.kernel("mul", 5'000'000, 7'000'000);
  }
  StageUntraced find(bool selected = false) {
    const Budgets budgets = t.budgets();
    return find_untraced_times(t.trace(), t.stages(), budgets, nullptr, selected).stages.at(0);
  }
  StageUntraced find_with(double mean_ms) {
    t.workload_time("prefill", mean_ms);
    return find();
  }
  TestTrace t;
};

TEST_F(UntracedByWorkload, LeavesBusyTimesAndScalesIdleOnes) {
  const StageUntraced stage = find_with(8);
  expect_whole_stage(stage);
  EXPECT_EQ(stage.source, UntracedSource::workload_clock);
  EXPECT_EQ(stage.wall, 8e6);
  EXPECT_EQ(stage.added, 2e6);
  EXPECT_EQ(stage.idle, 2e6);
  EXPECT_EQ(stage.idle_scale, 0.5);
  EXPECT_EQ(stage.busy_scale, 1);
  EXPECT_EQ(stage.passes, 0U);
  EXPECT_FALSE(stage.per_step);
  EXPECT_EQ(untraced_parts(stage),
            (std::map<std::string, double>{{"gemm", 4e6},
                                           {"elementwise", 2e6},
                                           {"idle: before the first GPU work", 0.5e6},
                                           {"idle: after the last GPU work", 1.5e6}}));
}

TEST_F(UntracedByWorkload, SlowerThanTracedIsTimeThatTracingDidNotAdd) {
  const StageUntraced stage = find_with(12);
  expect_whole_stage(stage);
  EXPECT_EQ(stage.added, -2e6);
  EXPECT_EQ(stage.idle, 6e6);
  EXPECT_EQ(stage.idle_scale, 1.5);
}

TEST_F(UntracedByWorkload, ShorterThanTheBusyTimeScalesThatDown) {
  const StageUntraced stage = find_with(5.5);
  expect_whole_stage(stage);
  EXPECT_EQ(stage.idle, 0);
  EXPECT_EQ(stage.idle_scale, 0);
  EXPECT_DOUBLE_EQ(stage.busy_scale, 5.5 / 6);
  const auto parts = untraced_parts(stage);
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_DOUBLE_EQ(parts.at("gemm"), 4e6 * 5.5 / 6);
  EXPECT_DOUBLE_EQ(parts.at("elementwise"), 2e6 * 5.5 / 6);
}
// 6 ms busy exceed 1.1 times 5.4 ms: other work, or the machine ran at another speed.
TEST_F(UntracedByWorkload, MuchShorterThanTheBusyTimeDoesNotFit) {
  const StageUntraced stage = find_with(5.4);
  EXPECT_EQ(stage.why_not, NoUntracedTime::does_not_fit);
  EXPECT_EQ(stage.wall, 0);
  EXPECT_EQ(sum_of_parts(stage), 0);
}

TEST_F(UntracedByWorkload, MuchLongerThanTracedDoesNotFit) {
  EXPECT_EQ(find_with(12.6).why_not, NoUntracedTime::does_not_fit);
}
TEST_F(UntracedByWorkload, OneQuarterLongerFits) { expect_whole_stage(find_with(12.5)); }

TEST_F(UntracedByWorkload, IsOfTheStageOfThatNameAlone) {
  t.workload_time("decode", 8);
  t.workload_time("prefill", 0);  // not timed
  EXPECT_EQ(find().why_not, NoUntracedTime::no_other_time);
}

TEST_F(UntracedByWorkload, IsNoneOfSelectedSteps) {
  t.workload_time("prefill", 8);
  EXPECT_EQ(find(true).why_not, NoUntracedTime::selection);
}

TEST_F(UntracedByWorkload, IsNoneOnACpu) {
  t.device().kind = trace::DeviceKind::cpu;
  const StageUntraced stage = find_with(8);
  EXPECT_EQ(stage.why_not, NoUntracedTime::cpu_operators);
  EXPECT_EQ(stage.added, 0);
}

TEST_F(UntracedByWorkload, IsNoneOfAStageThatIsWarmUpAltogether) {
  t.stages().instances[0].warmup = true;
  EXPECT_EQ(find_with(8).why_not, NoUntracedTime::warmup_only);
}

TEST_F(UntracedByWorkload, BudgetsForFindingsAreScaledWithTheirGaps) {
  t.workload_time("prefill", 8);
  const Budgets recorded = t.budgets();
  const UntracedStages untraced =
      find_untraced_times(t.trace(), t.stages(), recorded, nullptr, false);
  const StageBudget& budget = untraced.budgets.stages[0];
  const auto part = [](BudgetPart which) { return static_cast<size_t>(which); };
  EXPECT_EQ(budget.total[0], 4'000'000);  // gemm
  EXPECT_EQ(budget.total[part(BudgetPart::idle_before_first)], 500'000);
  EXPECT_EQ(budget.total[part(BudgetPart::idle_after_last)], 1'500'000);
  EXPECT_EQ(std::accumulate(budget.total.begin(), budget.total.end(), Nanoseconds{0}), 8'000'000);
  ASSERT_EQ(untraced.budgets.gaps.size(), recorded.gaps.size());
  ASSERT_EQ(recorded.gaps.size(), 2U);
  EXPECT_EQ(recorded.gaps[0].length(), 3'000'000);
  EXPECT_EQ(untraced.budgets.gaps[0].length(), 1'500'000);
  EXPECT_EQ(untraced.budgets.gaps[0].start, recorded.gaps[0].start);
}

TEST(UntracedTimes, AStageWithoutIdleTimeGetsItAsUnattributed) {
  TestTrace t;
  t.instance(t.stage("prefill"), 0, 10'000'000);
  t.kernel("gemm", 0, 10'000'000);
  t.workload_time("prefill", 10.5);
  const Budgets budgets = t.budgets();
  const UntracedStages untraced =
      find_untraced_times(t.trace(), t.stages(), budgets, nullptr, false);
  expect_whole_stage(untraced.stages[0]);
  EXPECT_EQ(untraced_parts(untraced.stages[0]),
            (std::map<std::string, double>{{"gemm", 10e6}, {"unattributed", 0.5e6}}));
}

TEST(UntracedTimes, ATenthOfTheTracedTimeIsTheShortestThatFits) {
  for (const double mean_ms : {0.9, 1.1}) {
    TestTrace t;
    t.instance(t.stage("prefill"), 0, 10'000'000);
    t.kernel("gemm", 0, 500'000);
    t.workload_time("prefill", mean_ms);
    const Budgets budgets = t.budgets();
    const UntracedStages untraced =
        find_untraced_times(t.trace(), t.stages(), budgets, nullptr, false);
    EXPECT_EQ(untraced.stages[0].known(), mean_ms > 1) << mean_ms;
  }
}

}  // namespace
}  // namespace llmprof::analysis
