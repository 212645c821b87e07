#include "compare/quantities/quantities.h"

#include <gtest/gtest.h>

#include "testing/decode_run.h"

namespace llmprof::compare {
namespace {

using testing::decode_run;

// Twelve steps of about `ms`, all different.
std::vector<double> steps_of(double ms) {
  std::vector<double> steps;
  for (int i = 0; i < 12; ++i) steps.push_back(ms + 0.001 * ((7 * i) % 5));
  return steps;
}

Judging one_percent() {
  Judging judging;
  judging.threshold = 0.01;
  return judging;
}

class Quantities : public ::testing::Test {
 protected:
  compare::Run base_ = decode_run({steps_of(10), steps_of(10)});
  compare::Run now_ = decode_run({steps_of(12), steps_of(12)});
  Judging judging_ = one_percent();
  std::vector<LeftOut> left_out_;
  Sides sides_{{&base_, 1}, {&now_, 1}};
};

TEST_F(Quantities, OfStepsAreComparedByStep) {
  const StageQuantities quantities(sides_, "decode", judging_, left_out_);
  const auto step = quantities.compare({Measured::wall, Per::step}, Statistic::mean);
  ASSERT_TRUE(step);
  EXPECT_NEAR(*step->difference, 2, 1e-9);
  EXPECT_EQ(step->unit, ComparedUnit::ms);
  EXPECT_EQ(step->times, Times::recorded);
  EXPECT_EQ(step->noise_of, NoiseOf::steps);
  EXPECT_EQ(step->base_count, 22U);
  EXPECT_EQ(step->answer, Answer::changed);
  EXPECT_EQ(step->direction, Direction::worse);
  EXPECT_NEAR(*quantities.compare({Measured::busy, Per::step}, Statistic::mean)->difference, 1,
              1e-9);
  EXPECT_NEAR(*quantities.compare({Measured::idle, Per::step}, Statistic::mean)->difference, 1,
              1e-9);
  EXPECT_NEAR(*quantities.compare(time_of(profile::KernelClass::gemm), Statistic::mean)->difference,
              1, 1e-6);
}

TEST_F(Quantities, OfInstancesAreComparedByInstance) {
  const StageQuantities quantities(sides_, "decode", judging_, left_out_);
  const auto wall = quantities.compare({Measured::wall, Per::instance}, Statistic::mean);
  ASSERT_TRUE(wall);
  EXPECT_NEAR(*wall->difference, 24, 1e-9);
  EXPECT_EQ(wall->noise_of, NoiseOf::instances);
  EXPECT_EQ(wall->base_count, 2U);
}

TEST_F(Quantities, TokensPerSecondFollowFromTheStep) {
  const StageQuantities quantities(sides_, "decode", judging_, left_out_);
  const auto rate = quantities.compare({Measured::tokens_per_s, Per::either}, Statistic::mean);
  ASSERT_TRUE(rate);
  EXPECT_EQ(rate->unit, ComparedUnit::tokens_per_s);
  EXPECT_FALSE(rate->lower_is_better);
  EXPECT_EQ(rate->direction, Direction::worse);
  EXPECT_EQ(rate->method, Method::from_wall);
  EXPECT_NEAR(*rate->base / *rate->now, 1.2, 0.001);
}

TEST_F(Quantities, WithoutPeaksThereIsNoUtilization) {
  const StageQuantities quantities(sides_, "decode", judging_, left_out_);
  EXPECT_FALSE(quantities.compare({Measured::mfu, Per::either}, Statistic::mean));
}

TEST_F(Quantities, WhatIsWithheldKeepsItsFiguresAlone) {
  judging_.withheld = NoAnswer::damaged;
  const StageQuantities quantities(sides_, "decode", judging_, left_out_);
  const auto step = quantities.compare({Measured::wall, Per::step}, Statistic::mean);
  ASSERT_TRUE(step);
  EXPECT_EQ(step->why_not, NoAnswer::damaged);
  EXPECT_EQ(step->answer, Answer::cannot_tell);
  EXPECT_FALSE(step->low);
  EXPECT_NEAR(*step->difference, 2, 1e-9);
}

TEST_F(Quantities, AllAreGivenInOneOrder) {
  const StageQuantities quantities(sides_, "decode", judging_, left_out_);
  std::vector<std::string> names;
  for (const Comparison& each : quantities.compare_all())
    names.emplace_back(to_string(each.quantity));
  EXPECT_EQ(names,
            (std::vector<std::string>{"step", "step_busy", "step_idle", "step_kernels", "wall",
                                      "busy", "idle", "kernels", "class.gemm", "tokens_per_s"}));
}

TEST(ComparedQuantity, IsReadAsItIsSpelled) {
  for (const std::string_view name :
       {"step", "step_idle", "mbu", "class.gemm", "class.moe routing", "class.of the future"}) {
    const auto quantity = profile::read_word<ComparedQuantity>(name);
    ASSERT_TRUE(quantity) << name;
    EXPECT_EQ(to_string(*quantity), name);
  }
  EXPECT_EQ(profile::read_word<ComparedQuantity>("class.gemm"),
            time_of(profile::KernelClass::gemm));
  EXPECT_FALSE(profile::read_word<ComparedQuantity>("nothing"));
}

TEST_F(Quantities, TheSameRecordingsAreIdentical) {
  const Sides same{{&base_, 1}, {&base_, 1}};
  const StageQuantities quantities(same, "decode", judging_, left_out_);
  const auto step = quantities.compare({Measured::wall, Per::step}, Statistic::p50);
  ASSERT_TRUE(step);
  EXPECT_EQ(step->method, Method::identical);
  EXPECT_EQ(step->difference, 0);
}

}  // namespace
}  // namespace llmprof::compare
