#include "compare/likeness/comparable_steps.h"

#include <gtest/gtest.h>

#include "testing/decode_run.h"

namespace llmprof::compare {
namespace {

using testing::decode_run;

const std::vector<double> kInstance(10, 5.0);

uint64_t left_out_by(const std::vector<LeftOut>& rows, SideName side, Exclusion rule) {
  uint64_t count = 0;
  for (const LeftOut& row : rows) {
    if (row.side == side && row.rule == rule) count += row.count;
  }
  return count;
}

TEST(ComparableSteps, StepsOfOneKindBatchAndContextAreAGroup) {
  const compare::Run base = decode_run({kInstance, kInstance});
  const compare::Run now = decode_run({kInstance});
  std::vector<LeftOut> left_out;
  const ComparableSteps found = comparable_steps({{&base, 1}, {&now, 1}}, "decode", left_out);
  ASSERT_EQ(found.groups.size(), 1U);
  const StepGroup& group = found.groups.front();
  EXPECT_EQ(group.batch, 2U);
  EXPECT_EQ(group.context_by, ContextBy::context_tokens);
  EXPECT_EQ(group.context_low, 101U);  // the first step of an instance is excluded
  EXPECT_EQ(group.context_high, 109U);
  EXPECT_EQ(group.base_steps, 18U);
  EXPECT_EQ(group.now_steps, 9U);
  EXPECT_DOUBLE_EQ(group.weight.value, 1);
  EXPECT_EQ(left_out_by(left_out, SideName::base, Exclusion::first_step), 2U);
  EXPECT_EQ(left_out_by(left_out, SideName::now, Exclusion::first_step), 1U);
  ASSERT_EQ(found.base.size(), 1U);
  EXPECT_EQ(found.base.front().rows.size(), 18U);
  EXPECT_EQ(found.base.front().groups, std::vector<uint32_t>(18, 0));
}

TEST(ComparableSteps, WarmUpCutOffAndUntracedStepsAreLeftOut) {
  compare::Run run = decode_run({kInstance, kInstance, kInstance});
  run.profile.stages.front().instances[0].warmup = true;
  run.profile.stages.front().warmup_count = 1;
  run.profile.stages.front().instances[2].cut_off = true;
  run.profile.steps[15].after_untraced = true;
  std::vector<LeftOut> left_out;
  const ComparableSteps found = comparable_steps({{&run, 1}, {&run, 1}}, "decode", left_out);
  EXPECT_EQ(left_out_by(left_out, SideName::base, Exclusion::warm_up), 10U);
  EXPECT_EQ(left_out_by(left_out, SideName::base, Exclusion::after_untraced), 1U);
  EXPECT_EQ(left_out_by(left_out, SideName::base, Exclusion::cut_off), 1U);
  EXPECT_EQ(found.groups.front().base_steps, 30U - 10 - 2 - 1 - 1);
}

TEST(ComparableSteps, OnlyTheRangeOfContextThatBothSidesHaveIsCompared) {
  const compare::Run base = decode_run({std::vector<double>(20, 5.0)});
  const compare::Run now = decode_run({kInstance});
  std::vector<LeftOut> left_out;
  const ComparableSteps found = comparable_steps({{&base, 1}, {&now, 1}}, "decode", left_out);
  EXPECT_EQ(found.groups.front().context_high, 109U);
  EXPECT_EQ(found.groups.front().base_steps, 9U);
  EXPECT_EQ(left_out_by(left_out, SideName::base, Exclusion::outside_context_range), 10U);
  EXPECT_EQ(left_out_by(left_out, SideName::now, Exclusion::outside_context_range), 0U);
}

TEST(ComparableSteps, ABatchThatOneSideLacksHasNoCounterpart) {
  const compare::Run base = decode_run({kInstance, kInstance});
  compare::Run now = base;
  for (size_t i = 0; i < 10; ++i) now.profile.steps[i].batch = 4;
  std::vector<LeftOut> left_out;
  const ComparableSteps found = comparable_steps({{&base, 1}, {&now, 1}}, "decode", left_out);
  ASSERT_EQ(found.groups.size(), 1U);
  EXPECT_EQ(found.groups.front().batch, 2U);
  EXPECT_EQ(left_out_by(left_out, SideName::now, Exclusion::no_counterpart), 9U);
}

TEST(ComparableSteps, StepsWithLoweredClocksAreLeftOutWhereTheyAreTheException) {
  compare::Run few = decode_run({kInstance, kInstance});
  few.profile.steps[3].clocks_lowered = true;
  compare::Run most = few;
  for (profile::Step& step : most.profile.steps) step.clocks_lowered = true;
  std::vector<LeftOut> left_out;
  const ComparableSteps found = comparable_steps({{&few, 1}, {&most, 1}}, "decode", left_out);
  EXPECT_EQ(left_out_by(left_out, SideName::base, Exclusion::clocks_lowered), 1U);
  EXPECT_EQ(left_out_by(left_out, SideName::now, Exclusion::clocks_lowered), 0U);
  EXPECT_EQ(found.groups.front().now_steps, 18U);
}

TEST(ComparableInstances, AreThoseOfAsManySteps) {
  const compare::Run base = decode_run({kInstance, kInstance, std::vector<double>(7, 5.0)});
  const compare::Run now = decode_run({kInstance});
  std::vector<LeftOut> left_out;
  const ComparableInstances found =
      comparable_instances({{&base, 1}, {&now, 1}}, "decode", left_out);
  ASSERT_EQ(found.base.size(), 1U);
  EXPECT_EQ(found.base.front().rows.size(), 2U);
  EXPECT_EQ(found.now.front().rows.size(), 1U);
  ASSERT_EQ(left_out.size(), 1U);
  EXPECT_EQ(left_out.front().what, ComparedRow::instances);
  EXPECT_EQ(left_out.front().rule, Exclusion::no_counterpart);
  EXPECT_DOUBLE_EQ(left_out.front().total.value, 35);
}

}  // namespace
}  // namespace llmprof::compare
