#include <gtest/gtest.h>

#include "testing/findings_fixture.h"

namespace llmprof::analysis {
namespace {

// 800 of 1000 ns busy at three quarters of the highest clock.
TEST_F(Findings, TellClocksThatHeatOrPowerLower) {
  t_.instance(t_.stage("decode"), 0, 1000);
  t_.launched("gemm", 0, 0, 800);
  t_.stages().stages[0].busy = summarize({800});
  profile::Measured decode;
  decode.sm_clock = {{1500e6}, {1400e6}, {1980e6}, 8};
  decode.highest_sm_clock = {2000e6};
  using enum profile::ClockLimit;
  decode.throttle_reasons = {
      {power_cap, true, {0.5}}, {thermal_hardware, true, {0.25}}, {idle, false, {0.1}}};
  counters_.stages = {decode};
  const std::vector<Finding> findings = found();
  const Finding* clocks = first(findings, FindingKind::low_clocks);
  ASSERT_NE(clocks, nullptr);
  EXPECT_DOUBLE_EQ(nanoseconds(clocks->saving), 200);
  const auto clock = [&](std::string_view name) {
    return testing::find_quantity<profile::Unit::hertz>(clocks->values, name)->value;
  };
  EXPECT_DOUBLE_EQ(clock("mean_clock"), 1500e6);
  EXPECT_DOUBLE_EQ(clock("lowest_clock"), 1400e6);
  EXPECT_DOUBLE_EQ(clock("highest_clock"), 1980e6);
  EXPECT_DOUBLE_EQ(clock("maximum_clock"), 2000e6);
  EXPECT_DOUBLE_EQ(number(*clocks, "samples"), 8);
  EXPECT_DOUBLE_EQ(share(*clocks, "slowed_by", "power cap"), 0.5);
  EXPECT_DOUBLE_EQ(share(*clocks, "slowed_by", "thermal slowdown (hardware)"), 0.25);
  const auto reasons = std::count_if(clocks->values.begin(), clocks->values.end(),
                                     [](const auto& value) { return value.name == "slowed_by"; });
  EXPECT_EQ(reasons, 2);  // an idle GPU is not a reason
}

TEST_F(Findings, LeaveUsualClocksAlone) {
  t_.instance(t_.stage("decode"), 0, 1000);
  t_.launched("gemm", 0, 0, 800);
  t_.stages().stages[0].busy = summarize({800});
  profile::Measured decode;
  decode.sm_clock = {{1900e6}, {1850e6}, {1980e6}, 8};
  decode.highest_sm_clock = {2000e6};
  decode.throttle_reasons = {{profile::ClockLimit::power_cap, true, {0.01}}};
  counters_.stages = {decode};
  EXPECT_EQ(first(found(), FindingKind::low_clocks), nullptr);
}

// 80 ns of norm in two steps of one decode.
TEST_F(Findings, SayWhatANarrowedInstanceIs) {
  t_.instance(t_.stage("decode"), 0, 1000);
  for (Nanoseconds at = 0; at < 1000; at += 500) {
    t_.step(at, at + 500);
    t_.launched("norm", 0, at, at + 40);
    t_.launched("gemm", 0, at + 40, at + 500);
  }
  selection_.stage = "decode";
  const std::vector<Finding> of_stage = found();
  ASSERT_EQ(of_stage.size(), 1U);
  EXPECT_EQ(of_stage[0].unit, "decode");
  EXPECT_DOUBLE_EQ(nanoseconds(of_stage[0].saving), 80);
  EXPECT_DOUBLE_EQ(of_stage[0].share_of_wall.value, 0.08);
}

TEST_F(Findings, SayWhatSomeStepsAre) {
  t_.instance(t_.stage("decode"), 0, 1000);
  for (Nanoseconds at = 0; at < 1000; at += 500) {
    t_.step(at, at + 500);
    t_.launched("norm", 0, at, at + 40);
    t_.launched("gemm", 0, at + 40, at + 500);
  }
  selection_.steps = {4, 6};
  const std::vector<Finding> of_steps = found();
  ASSERT_EQ(of_steps.size(), 1U);
  EXPECT_EQ(of_steps[0].unit, "2 steps");
  EXPECT_DOUBLE_EQ(nanoseconds(of_steps[0].saving), 80);
  EXPECT_EQ(text(of_steps[0], "pass"), "step");
  EXPECT_DOUBLE_EQ(number(of_steps[0], "kernels_per_pass"), 1);
}

// A detected prefill has one step; kernel counts and advice are per request.
TEST_F(Findings, SpeakOfPrefillAsOfAPass) {
  t_.instance(t_.stage("prefill"), 0, 400);
  t_.step(0, 400).kind = StepKind::prefill;
  for (Nanoseconds at = 0; at < 400; at += 100) t_.launched("gemm", at + 40, at + 50, at + 100);
  const std::vector<Finding> findings = found();
  const Finding* waits = first(findings, FindingKind::launch_bound);
  ASSERT_NE(waits, nullptr);
  EXPECT_DOUBLE_EQ(number(*waits, "kernels_per_pass"), 4);
  EXPECT_EQ(text(*waits, "pass"), "request");
  EXPECT_EQ(text(*waits, "decodes"), "no");
}

// Three decode steps with 30 ns of norm each cost more than a prefill step with 60.
TEST_F(Findings, RankAnEnginesStepsByWhatTheyCostTogether) {
  t_.stages().serving = true;
  const uint32_t prefill = t_.stage("prefill");
  const uint32_t decode = t_.stage("decode");
  t_.instance(prefill, 0, 1000);
  t_.step(0, 1000).kind = StepKind::prefill;
  t_.launched("gemm", 0, 0, 940);
  t_.launched("norm", 0, 940, 1000);
  for (Nanoseconds at = 1000; at < 4000; at += 1000) {
    t_.instance(decode, at, at + 1000);
    t_.step(at, at + 1000);
    t_.launched("gemm", 0, at, at + 970);
    t_.launched("norm", 0, at + 970, at + 1000);
  }
  const std::vector<Finding> findings = found();
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].stage, "decode");
  EXPECT_DOUBLE_EQ(nanoseconds(findings[0].saving), 30);
  EXPECT_DOUBLE_EQ(nanoseconds(findings[0].total_saving), 90);
  EXPECT_EQ(findings[0].unit, "engine step");
  EXPECT_DOUBLE_EQ(findings[0].share_of_wall.value, 0.03);
  EXPECT_EQ(text(findings[0], "pass"), "engine step");
  EXPECT_DOUBLE_EQ(number(findings[0], "kernels_per_pass"), 1);
}

// 600 ns of replays and 200 of kernels.
TEST_F(Findings, BeginWithWhatTheCaptureHides) {
  t_.instance(t_.stage("decode"), 0, 1000);
  t_.launched("norm", 0, 0, 200);
  t_.replay(200, 800, t_.call("cudaGraphLaunch", 0, 5));
  const std::vector<Finding> findings = found();
  ASSERT_GE(findings.size(), 2U);
  EXPECT_EQ(findings[0].kind, FindingKind::hidden_graphs);
  EXPECT_DOUBLE_EQ(share(findings[0], "hidden_share_of_gpu_time"), 0.75);
  EXPECT_DOUBLE_EQ(milliseconds(findings[0], "hidden_time"), 600e-6);
  EXPECT_DOUBLE_EQ(milliseconds(findings[0], "hidden_time_per_instance"), 600e-6);
  EXPECT_FALSE(findings[0].saving);
  EXPECT_DOUBLE_EQ(findings[0].share_of_wall.value, 0.6);
}

TEST_F(Findings, LeaveOutWhatIsBelowOnePercent) {
  t_.instance(t_.stage("decode"), 0, 10000);
  t_.launched("gemm", 0, 0, 9910);
  t_.launched("norm", 0, 9910, 10000);
  EXPECT_TRUE(found().empty());
}

TEST_F(Findings, AreNoneWithoutStages) { EXPECT_TRUE(found().empty()); }

}  // namespace
}  // namespace llmprof::analysis
