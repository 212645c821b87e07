#include "analysis/counters/stage_counters.h"

#include <gtest/gtest.h>

#include "testing/reasons.h"
#include "testing/staged_trace.h"

namespace llmprof::analysis {
namespace {

using testing::Kinds;
using testing::kinds_of;
using testing::number_of;

constexpr Nanoseconds kSampleMs = 1'000'000;

TEST(CounterRoles, ChipsSpellThemDifferently) {
  EXPECT_EQ(counter_role("dram__bytes_read.sum", "byte"), CounterRole::dram_read);
  EXPECT_EQ(counter_role("sm__cycles_active.avg.pct_of_peak_sustained_elapsed", "%"),
            CounterRole::sm_active);
  EXPECT_EQ(counter_role("TPC.TriageCompute.sm__pipe_tensor_cycles_active_realtime.avg", "%"),
            CounterRole::tensor_active);
  EXPECT_EQ(counter_role("throttle_reasons", "bit mask"), CounterRole::throttle_reasons);
  EXPECT_FALSE(counter_role("sm__cycles_active.avg", "cycle"));
  EXPECT_FALSE(counter_role("l2__hits", "%"));
}

TEST(CounterRoles, ThrottleReasonsInWords) {
  const auto reasons = clock_limits(0x1 | 0x4 | 0x40 | 0x4000 | 0x8000);
  ASSERT_EQ(reasons.size(), 4U);
  EXPECT_EQ(to_string(reasons[0]), "GPU idle");
  EXPECT_FALSE(is_slowing(reasons[0]));
  EXPECT_EQ(to_string(reasons[1]), "power cap");
  EXPECT_EQ(to_string(reasons[2]), "thermal slowdown (hardware)");
  EXPECT_TRUE(is_slowing(reasons[2]));
  EXPECT_EQ(to_string(reasons[3]), "other reasons");
  EXPECT_EQ(to_string(clock_limits(0x100)[0]), "display clock setting");
}

TEST(CounterSeries, ASampleCountsByTheShareInside) {
  CounterSeries series;
  series.add({20, 30, 50});
  series.add({0, 10, 100});
  series.add({10, 20, 200});
  series.put_in_order();
  // Half of the first, all of the second, a tenth of the third.
  const CounterSeries::Share share = series.over(5, 21);
  EXPECT_DOUBLE_EQ(share.sum, 50 + 200 + 5);
  EXPECT_EQ(share.covered, 16);
  EXPECT_DOUBLE_EQ(*share.mean(), (100 * 5 + 200 * 10 + 50 * 1) / 16.0);
  EXPECT_EQ(series.over(30, 40).covered, 0);
  EXPECT_FALSE(series.over(30, 40).mean());
}

// A decode from 10 to 20 ms, busy for 8 ms. Samples of 1 ms with 3 MB read and 1 MB written each: 3
// GB/s and 1 GB/s.
class DecodeWithCounters : public ::testing::Test {
 protected:
  DecodeWithCounters() {
    t_.device().memory_bandwidth = 10'000'000'000;
    t_.device().clock_hz = 2'000'000'000;
    StageInstance& decode = t_.instance(t_.stage("decode"), 10 * kSampleMs, 20 * kSampleMs);
    decode.work.busy = 8 * kSampleMs;
    for (Nanoseconds step = 0; step < 4; ++step) {
      t_.step(10 * kSampleMs + step * 5 * kSampleMs / 2,
              10 * kSampleMs + (step + 1) * 5 * kSampleMs / 2)
          .work.busy = 2 * kSampleMs;
    }
  }
  void sample_dram(Nanoseconds from, Nanoseconds to) {
    for (Nanoseconds start = from; start < to; start += kSampleMs) {
      t_.counter("dram__bytes_read.sum", "byte", start, start + kSampleMs, 3e6);
      t_.counter("dram__bytes_write.sum", "byte", start, start + kSampleMs, 1e6);
    }
  }
  Counters counters(const UseOfPeaks& use = {}) {
    t_.freeze();
    return attribute_counters(t_.trace(), t_.stages(), use);
  }
  TestTrace t_;
};

TEST_F(DecodeWithCounters, BytesAndMbuAreOfTheWindow) {
  sample_dram(0, 40 * kSampleMs);
  const Counters all = counters();
  ASSERT_EQ(all.stages.size(), 1U);
  const profile::Measured& decode = *all.stages[0];
  EXPECT_DOUBLE_EQ(decode.coverage_share_of_wall->value, 1);
  EXPECT_NEAR(decode.dram_read->value, 30e6, 1);
  EXPECT_NEAR(decode.dram_write->value, 10e6, 1);
  EXPECT_NEAR(decode.mbu.wall->value, 40e6 / 0.010 / 10e9, 1e-12);
  EXPECT_NEAR(decode.mbu.gpu_busy->value, 40e6 / 0.008 / 10e9, 1e-12);
  EXPECT_DOUBLE_EQ(*decode.steps, 4);
  EXPECT_DOUBLE_EQ(*decode.tokens, 4);
  EXPECT_NEAR(decode.dram_read_per_step->value, 7.5e6, 1);
  ASSERT_EQ(all.step_bytes.size(), 4U);
  EXPECT_NEAR(*all.step_bytes[1], 10e6, 1);  // 12.5 to 15 ms
}

TEST_F(DecodeWithCounters, ForwardPassesOfOtherModelsGiveNoTokens) {
  t_.stages().stages[0].name = "forward";
  sample_dram(0, 40 * kSampleMs);
  const profile::Measured forward = *counters().stages[0];
  EXPECT_DOUBLE_EQ(*forward.steps, 4);
  EXPECT_FALSE(forward.tokens);
  EXPECT_FALSE(forward.sampled_tokens);
}

TEST_F(DecodeWithCounters, WhatSamplesMissIsScaledAndSaid) {
  sample_dram(12 * kSampleMs, 20 * kSampleMs);
  const profile::Measured decode = *counters().stages[0];
  EXPECT_DOUBLE_EQ(decode.coverage_share_of_wall->value, 0.8);
  EXPECT_NEAR(decode.dram_read->value, 30e6, 1);
  EXPECT_NEAR(decode.mbu.wall->value, 0.4, 1e-12);
}

TEST_F(DecodeWithCounters, TooFewSamplesGiveAReason) {
  sample_dram(16 * kSampleMs, 20 * kSampleMs);
  const profile::Measured decode = *counters().stages[0];
  EXPECT_DOUBLE_EQ(decode.coverage_share_of_wall->value, 0.4);
  EXPECT_FALSE(decode.dram_read);
  EXPECT_FALSE(decode.mbu.wall);
  EXPECT_EQ(kinds_of(decode.why_not_reasons), Kinds{"few_counter_samples"});
  EXPECT_EQ(number_of(decode.why_not_reasons, "share_of_wall"), 0.4);
}

// A second decode of 20 ms and two steps, without counter samples.
TEST_F(DecodeWithCounters, BytesAreOfSampledInstancesAndTheirSteps) {
  StageInstance& second = t_.instance(0, 30 * kSampleMs, 50 * kSampleMs);
  second.work.busy = 16 * kSampleMs;
  t_.step(30 * kSampleMs, 40 * kSampleMs);
  t_.step(40 * kSampleMs, 50 * kSampleMs);
  sample_dram(8 * kSampleMs, 33 * kSampleMs);
  t_.counter("sm__cycles_active.avg.pct_of_peak_sustained_elapsed", "%", 8 * kSampleMs,
             30 * kSampleMs, 60);
  t_.counter("sm__cycles_active.avg.pct_of_peak_sustained_elapsed", "%", 30 * kSampleMs,
             33 * kSampleMs, 90);
  t_.counter("energy", "J", 9 * kSampleMs, 9 * kSampleMs, 1000);
  t_.counter("energy", "J", 21 * kSampleMs, 21 * kSampleMs, 1006);
  t_.counter("energy", "J", 30 * kSampleMs, 30 * kSampleMs, 1006);
  t_.counter("energy", "J", 50 * kSampleMs, 50 * kSampleMs, 1016);
  UseOfPeaks use;
  StageUtilization stage;
  stage.cost.parts.push_back({"weights", 1, 24e6, 0});  // mean of 3 steps
  use.stages.push_back(stage);
  const profile::Measured decode = *counters(use).stages[0];
  EXPECT_EQ(decode.instances, 2U);
  EXPECT_EQ(decode.sampled_instances, 1U);
  EXPECT_DOUBLE_EQ(decode.coverage_share_of_wall->value, 1);
  EXPECT_NEAR(decode.dram_read->value, 30e6, 1);
  EXPECT_NEAR(decode.mbu.wall->value, 0.4, 1e-12);
  EXPECT_NEAR(decode.mbu.gpu_busy->value, 0.5, 1e-12);
  EXPECT_DOUBLE_EQ(decode.sm_active->value, 0.6);
  EXPECT_DOUBLE_EQ(*decode.steps, 3);
  EXPECT_DOUBLE_EQ(*decode.sampled_steps, 4);
  EXPECT_NEAR(decode.dram_read_per_step->value, 7.5e6, 1);
  EXPECT_NEAR(decode.dram_write_per_token->value, 2.5e6, 1);
  EXPECT_NEAR(decode.bytes_over_model->value, 40e6 / 32e6, 1e-9);
  // 16 J in 32 ms is 500 W: 7.5 J per instance of 15 ms and 3 tokens.
  EXPECT_NEAR(decode.energy->value, 7.5, 1e-9);
  EXPECT_NEAR(decode.energy_per_token->value, 2.5, 1e-9);
}

// Samples start within the first decode, at 14 ms of 20 ms.
TEST_F(DecodeWithCounters, WholeInstancesComeBeforePartsOfOthers) {
  t_.instance(0, 20 * kSampleMs, 30 * kSampleMs);
  t_.step(20 * kSampleMs, 30 * kSampleMs);
  sample_dram(14 * kSampleMs, 30 * kSampleMs);
  const profile::Measured decode = *counters().stages[0];
  EXPECT_EQ(decode.sampled_instances, 1U);
  EXPECT_DOUBLE_EQ(decode.coverage_share_of_wall->value, 1);
  EXPECT_DOUBLE_EQ(*decode.sampled_steps, 1);
  EXPECT_DOUBLE_EQ(*decode.steps, 2.5);
}

// 0.8 s of 2 s each: more in total than a long stage needs, but less than half of each instance.
TEST_F(DecodeWithCounters, PartsOfManyInstancesAreNoWholeOne) {
  for (int i = 0; i < 5; ++i) {
    const Nanoseconds start = (2'000 + i * 2'000) * kSampleMs;
    t_.instance(0, start, start + 2'000 * kSampleMs);
    t_.counter("dram__bytes_read.sum", "byte", start, start + 800 * kSampleMs, 1e9);
    t_.counter("dram__bytes_write.sum", "byte", start, start + 800 * kSampleMs, 1e9);
  }
  const profile::Measured decode = *counters().stages[0];
  EXPECT_EQ(decode.sampled_instances, 0U);
  EXPECT_FALSE(decode.dram_read);
  EXPECT_EQ(kinds_of(decode.why_not_reasons), Kinds{"few_counter_samples"});
}

TEST_F(DecodeWithCounters, AStageWithoutSamplesSaysWhy) {
  sample_dram(30 * kSampleMs, 40 * kSampleMs);
  const profile::Measured decode = *counters().stages[0];
  EXPECT_EQ(decode.sampled_instances, 0U);
  EXPECT_FALSE(decode.coverage_share_of_wall);
  EXPECT_EQ(kinds_of(decode.why_not_reasons), Kinds{"no_counter_samples"});
}

TEST_F(DecodeWithCounters, ATenthOfALongStageIsEnough) {
  t_.instance(t_.stage("long"), 100 * kSampleMs, 20'100 * kSampleMs);
  t_.counter("dram__bytes_read.sum", "byte", 5'000 * kSampleMs, 7'000 * kSampleMs, 3e9);
  t_.counter("dram__bytes_write.sum", "byte", 5'000 * kSampleMs, 7'000 * kSampleMs, 1e9);
  const profile::Measured stage = *counters().stages[1];
  EXPECT_EQ(stage.sampled_instances, 1U);
  EXPECT_DOUBLE_EQ(stage.coverage_share_of_wall->value, 0.1);
  EXPECT_NEAR(stage.dram_read->value, 30e9, 1);
}

TEST_F(DecodeWithCounters, MoreThanThePeakIsRefused) {
  t_.device().memory_bandwidth = 3'000'000'000;
  sample_dram(0, 40 * kSampleMs);
  const profile::Measured decode = *counters().stages[0];
  EXPECT_TRUE(decode.dram_read);
  EXPECT_FALSE(decode.mbu.wall);
  EXPECT_FALSE(decode.mbu.gpu_busy);
  EXPECT_EQ(kinds_of(decode.why_not_reasons), Kinds{"impossible_bandwidth"});
  EXPECT_NEAR(number_of(decode.why_not_reasons, "share"), 5.0 / 3, 1e-9);
}

TEST_F(DecodeWithCounters, BesideTheModelsBytes) {
  sample_dram(0, 40 * kSampleMs);
  UseOfPeaks use;
  StageUtilization stage;
  stage.cost.parts.push_back({"weights", 1, 32e6, 0});
  use.stages.push_back(stage);
  EXPECT_NEAR(counters(use).stages[0]->bytes_over_model->value, 1.25, 1e-9);
}

// Untraced between 12.5 and 17.5 ms: steps 1 and 2 were not recorded.
TEST_F(DecodeWithCounters, BusyFiguresAreOfTracedSteps) {
  sample_dram(0, 40 * kSampleMs);
  Stages& stages = t_.stages();
  stages.steps.erase(stages.steps.begin() + 1, stages.steps.begin() + 3);
  stages.steps[1].after_untraced = true;
  stages.instances[0].step_count = 2;
  stages.instances[0].untraced_steps = 2;
  t_.tracing_changes(0, true, trace::TracingReason::program_start);
  t_.tracing_changes(12 * kSampleMs, false);
  t_.tracing_changes(17 * kSampleMs, true);
  t_.kernel("gemm", 10 * kSampleMs, 12 * kSampleMs,
            t_.call("cudaLaunchKernel", 9 * kSampleMs, 10 * kSampleMs));
  t_.kernel("gemm", 175 * kSampleMs / 10, 20 * kSampleMs,
            t_.call("cudaLaunchKernel", 17 * kSampleMs, 17 * kSampleMs + 1));
  const profile::Measured decode = *counters().stages[0];
  EXPECT_NEAR(decode.mbu.wall->value, 0.4, 1e-12);
  // Only step 0, whose start is known: 10 MB in 2 ms of busy time.
  EXPECT_NEAR(decode.mbu.gpu_busy->value, 10e6 / 0.002 / 10e9, 1e-12);
  EXPECT_DOUBLE_EQ(*decode.steps, 4);
  EXPECT_DOUBLE_EQ(*decode.tokens, 4);
}

TEST_F(DecodeWithCounters, ActivityIsATimeWeightedMean) {
  t_.counter("sm__cycles_active.avg.pct_of_peak_sustained_elapsed", "%", 0, 15 * kSampleMs, 40);
  t_.counter("sm__cycles_active.avg.pct_of_peak_sustained_elapsed", "%", 15 * kSampleMs,
             30 * kSampleMs, 80);
  t_.counter("sm__pipe_tensor_cycles_active.avg", "%", 0, 30 * kSampleMs, 25);
  const profile::Measured decode = *counters().stages[0];
  EXPECT_DOUBLE_EQ(decode.sm_active->value, 0.6);
  EXPECT_DOUBLE_EQ(decode.tensor_active->value, 0.25);
  EXPECT_DOUBLE_EQ(decode.coverage_share_of_wall->value, 1);
  EXPECT_FALSE(decode.dram_read);
}

// Readings at 9, 17 and 21 ms: the decode covers 7 of the first 8 ms, and 3 of the next 4 ms.
TEST_F(DecodeWithCounters, EnergyIsTheCountersDifference) {
  t_.counter("energy", "J", 9 * kSampleMs, 9 * kSampleMs, 1000);
  t_.counter("energy", "J", 17 * kSampleMs, 17 * kSampleMs, 1004);
  t_.counter("energy", "J", 21 * kSampleMs, 21 * kSampleMs, 1006);
  t_.counter("power", "W", 9 * kSampleMs, 9 * kSampleMs, 100);
  const profile::Measured decode = *counters().stages[0];
  // 6 J in 12 ms is 500 W, for 10 ms.
  EXPECT_NEAR(decode.energy->value, 5, 1e-9);
  EXPECT_EQ(decode.energy_source, profile::EnergySource::energy_counter);
  EXPECT_NEAR(decode.energy_per_token->value, 1.25, 1e-9);
  EXPECT_TRUE(decode.energy_why_not_reasons.empty());
}

TEST_F(DecodeWithCounters, WithoutACounterEnergyIsPowerOverTime) {
  t_.counter("power", "W", 10 * kSampleMs, 10 * kSampleMs, 200);
  t_.counter("power", "W", 20 * kSampleMs, 20 * kSampleMs, 400);
  const profile::Measured decode = *counters().stages[0];
  EXPECT_NEAR(decode.energy->value, 3, 1e-9);
  EXPECT_EQ(decode.energy_source, profile::EnergySource::power_over_time);
}

// Half of the time between the readings is outside this decode.
TEST_F(DecodeWithCounters, EnergyOfOthersIsNotTheStages) {
  t_.counter("energy", "J", 5 * kSampleMs, 5 * kSampleMs, 1000);
  t_.counter("energy", "J", 25 * kSampleMs, 25 * kSampleMs, 1010);
  const profile::Measured decode = *counters().stages[0];
  EXPECT_FALSE(decode.energy);
  EXPECT_EQ(kinds_of(decode.energy_why_not_reasons), Kinds{"sensors_read_rarely"});
  EXPECT_EQ(number_of(decode.energy_why_not_reasons, "time_between_readings"), 20);
}

TEST_F(DecodeWithCounters, SensorsAndThrottleReasons) {
  for (const auto& [time, clock, reasons] :
       {std::tuple{9, 500, 1}, {10, 1500, 4}, {15, 1600, 4 + 0x40}, {20, 1700, 0}, {21, 500, 1}}) {
    t_.counter("sm_clock", "MHz", time * kSampleMs, time * kSampleMs, clock);
    t_.counter("throttle_reasons", "", time * kSampleMs, time * kSampleMs, reasons);
  }
  const profile::Measured decode = *counters().stages[0];
  ASSERT_TRUE(decode.sm_clock);
  EXPECT_EQ(decode.sm_clock->samples, 3U);
  EXPECT_DOUBLE_EQ(decode.sm_clock->mean.value, 1600e6);
  EXPECT_DOUBLE_EQ(decode.sm_clock->min.value, 1500e6);
  EXPECT_DOUBLE_EQ(decode.sm_clock->max.value, 1700e6);
  EXPECT_DOUBLE_EQ(decode.highest_sm_clock->value, 2000e6);
  ASSERT_EQ(decode.throttle_reasons.size(), 2U);
  EXPECT_EQ(decode.throttle_reasons[0].reason, profile::ClockLimit::power_cap);
  EXPECT_DOUBLE_EQ(decode.throttle_reasons[0].share_of_samples.value, 2.0 / 3);
  EXPECT_DOUBLE_EQ(decode.throttle_reasons[1].share_of_samples.value, 1.0 / 3);
  EXPECT_FALSE(decode.temperature);
}

TEST_F(DecodeWithCounters, WithoutSamplesThereIsNothing) { EXPECT_TRUE(counters().stages.empty()); }

}  // namespace
}  // namespace llmprof::analysis
