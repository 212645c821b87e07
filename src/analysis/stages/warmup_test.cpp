#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <utility>

#include "testing/stages_fixture.h"

namespace llmprof::analysis {
namespace {

using WarmupTest = StagesFixture;

TEST_F(WarmupTest, FlagsAFirstRequestWithFewerSteps) {
  request(0, 100, 4, 10);
  request(1000, 100, 16, 10);
  measure();
  EXPECT_EQ(warmups(), (std::vector<bool>{true, true, false, false}));
  EXPECT_EQ(stages_.stages[1].step_wall.count, 16U);
  ASSERT_TRUE(diagnostics_.has("warmup_set_apart"));
}

TEST_F(WarmupTest, FlagsSeveralShortRequestsInFront) {
  request(0, 900, 1, 10);
  request(1000, 300, 1, 10);
  for (Nanoseconds i = 2; i < 5; ++i) request(i * 1000, 100, 24, 10);
  measure();
  EXPECT_EQ(warmups(),
            (std::vector<bool>{true, true, true, true, false, false, false, false, false, false}));
}

TEST_F(WarmupTest, FlagsAFirstRequestThatIsClearlySlower) {
  request(0, 500, 8, 10);
  for (Nanoseconds i = 1; i < 4; ++i) request(i * 1000, 100 + i, 8, 10);
  measure();
  EXPECT_EQ(warmups(), (std::vector<bool>{true, true, false, false, false, false, false, false}));
}

// Eager code on a busy host: later prefills vary by half, and the cold first one takes ten times as
// long for the same 80 ns of GPU work.
TEST_F(WarmupTest, FlagsAColdFirstRequestAmongThoseThatVary) {
  Nanoseconds start = 0;
  for (const Nanoseconds prefill : {1500, 100, 150, 108, 160}) {
    const InstanceId first = instance(kPrefill, start, start + prefill);
    kernel(first, {}, start, start + 80);
    const InstanceId loop = instance(kDecode, start + prefill, start + prefill + 100);
    kernel(loop, step(loop, start + prefill), start + prefill, start + prefill + 100);
    start += 10'000;
  }
  measure();
  std::vector<bool> expected(10, false);
  expected[0] = expected[1] = true;
  EXPECT_EQ(warmups(), expected);
}

// gpt-fast, eager, on an H200, in us. Combined from several runs, to have the noise that one run
// may have: the first, second, fourth and fifth decode, and the first, second and fifth prefill,
// are instances of one recorded run; the others are means of two more. The GPU works for 4.5 and
// 145 ms.
TEST_F(WarmupTest, FlagsTheColdRequestOfANoisyEagerProgram) {
  const std::array<Nanoseconds, 5> prefills = {437'050, 17'910, 30'006, 22'745, 17'350};
  const std::array<Nanoseconds, 5> decodes = {1'394'390, 1'362'340, 1'902'542, 1'115'940,
                                              1'181'270};
  Nanoseconds start = 0;
  for (size_t i = 0; i < prefills.size(); ++i) {
    const InstanceId first = instance(kPrefill, start, start + prefills[i]);
    kernel(first, {}, start, start + 4'475);
    const Nanoseconds begin = start + prefills[i];
    const InstanceId loop = instance(kDecode, begin, begin + decodes[i]);
    kernel(loop, step(loop, begin), begin, begin + 145'055);
    start += 3'000'000;
  }
  measure();
  std::vector<bool> expected(10, false);
  expected[0] = expected[1] = true;
  EXPECT_EQ(warmups(), expected);
  EXPECT_EQ(stages_.instances[0].why_warmup, WarmupReason::longer);
  EXPECT_NEAR(stages_.stages[kPrefill].wall.mean, 22'003, 1);
}

// An embedding model on an H200, in us: prompts of four lengths, and other programs on the host.
TEST_F(WarmupTest, FlagsAColdPassAmongPassesOfVariousWork) {
  const std::array<std::pair<Nanoseconds, Nanoseconds>, 6> passes = {{{472'480, 863},
                                                                      {104'251, 1'234},
                                                                      {89'364, 908},
                                                                      {92'450, 1'098},
                                                                      {13'079, 868},
                                                                      {12'289, 1'235}}};
  Nanoseconds start = 0;
  for (const auto& [wall, busy] : passes) {
    kernel(instance(kPrefill, start, start + wall), {}, start, start + busy);
    start += 1'000'000;
  }
  measure();
  EXPECT_EQ(warmups(), (std::vector<bool>{true, false, false, false, false, false}));
}

// The same noise without a cold start: less than twice the longest later instance is noise.
TEST_F(WarmupTest, FlagsNothingInANoisyEagerProgramThatIsWarm) {
  Nanoseconds start = 0;
  for (const Nanoseconds prefill : {55'000, 17'910, 30'006, 22'745, 17'350}) {
    const InstanceId first = instance(kPrefill, start, start + prefill);
    kernel(first, {}, start, start + 4'475);
    start += 3'000'000;
  }
  measure();
  EXPECT_EQ(warmups(), std::vector<bool>(5, false));
}

// 2 % slower, while the others are within 0.1 % of each other.
TEST_F(WarmupTest, FlagsAFirstRequestThatIsMeasurablySlower) {
  request(0, 100, 10, 10200);
  request(1000000, 110, 10, 10000);
  request(2000000, 105, 10, 10010);
  measure();
  EXPECT_EQ(warmups(), (std::vector<bool>{true, true, false, false, false, false}));
}

TEST_F(WarmupTest, FlagsNothingWhereTheFirstIsLikeTheOthers) {
  request(0, 100, 8, 10);
  request(1000, 102, 8, 10);
  request(2000, 99, 8, 10);
  measure();
  EXPECT_EQ(warmups(), std::vector<bool>(6, false));
  EXPECT_FALSE(diagnostics_.has("warmup_set_apart"));
}

TEST_F(WarmupTest, FlagsNothingAmongRequestsOfAllLengths) {
  request(0, 300, 20, 10);
  request(1000, 100, 35, 10);
  request(2000, 800, 12, 10);
  request(4000, 200, 50, 10);
  measure();
  EXPECT_EQ(warmups(), std::vector<bool>(8, false));
}

TEST_F(WarmupTest, FlagsNothingWithOneRequest) {
  request(0, 500, 8, 10);
  measure();
  EXPECT_EQ(warmups(), std::vector<bool>(2, false));
  EXPECT_EQ(stages_.stages[0].wall.count, 1U);
}

// With a single other request, prompts may differ: twice the GPU time is twice the prompt.
TEST_F(WarmupTest, DoesNotTakeALongerPromptForAWarmup) {
  request(0, 200, 8, 10);
  request(1000, 100, 8, 10);
  measure();
  EXPECT_EQ(warmups(), std::vector<bool>(4, false));
}

TEST_F(WarmupTest, KeepsTheOnlyDecode) {
  request(0, 500, 8, 10);
  for (Nanoseconds i = 1; i < 4; ++i) {
    kernel(instance(kPrefill, i * 1000, i * 1000 + 100), {}, i * 1000, i * 1000 + 90);
  }
  measure();
  EXPECT_EQ(warmups(), (std::vector<bool>{true, false, false, false, false}));
}

TEST_F(WarmupTest, FlagsSlowEngineStepsBeforeALongPause) {
  stages_.serving = true;
  for (Nanoseconds i = 0; i < 2; ++i) {
    kernel(instance(kDecode, i * 50, i * 50 + 40), {}, i * 50, i * 50 + 40);
  }
  for (Nanoseconds i = 0; i < 10; ++i) {
    kernel(instance(kDecode, 1000 + i * 12, 1010 + i * 12), {}, 1000 + i * 12, 1010 + i * 12);
  }
  measure();
  std::vector<bool> expected(12, false);
  expected[0] = expected[1] = true;
  EXPECT_EQ(warmups(), expected);
}

// Wall times 500, 30, 30, 30 with 20 of GPU work each: the first one is cold.
TEST_F(WarmupTest, FlagsAColdFirstEngineStep) {
  stages_.serving = true;
  Nanoseconds at = 0;
  for (const Nanoseconds wall : {500, 30, 30, 30}) {
    kernel(instance(kDecode, at, at + wall), {}, at + wall - 20, at + wall);
    at += wall;
  }
  measure();
  EXPECT_EQ(warmups(), (std::vector<bool>{true, false, false, false}));
}

// One prefill of 500 ms before decode steps of 30 ms: cold or not, there is no other to compare it
// with.
TEST_F(WarmupTest, KeepsTheOnlyStepOfItsKindAndSaysSo) {
  constexpr Nanoseconds kMs = 1'000'000;
  stages_.serving = true;
  kernel(instance(kDecode, -30 * kMs, 0), {}, -25 * kMs, 0);
  kernel(instance(kPrefill, 0, 500 * kMs), {}, 480 * kMs, 500 * kMs);
  for (Nanoseconds at = 500 * kMs; at < 620 * kMs; at += 30 * kMs) {
    kernel(instance(kDecode, at, at + 30 * kMs), {}, at + 10 * kMs, at + 30 * kMs);
  }
  measure();
  EXPECT_EQ(warmups(), std::vector<bool>(6, false));
  ASSERT_TRUE(diagnostics_.has("cold_step_kept"));
  const auto& items = diagnostics_.items();
  const auto kept = std::find_if(items.begin(), items.end(),
                                 [](const auto& item) { return item.code == "cold_step_kept"; });
  EXPECT_TRUE(kept->message.starts_with(
      "the only prefill step takes 500.000 ms, the median step of all stages 30.000 ms"))
      << kept->message;
}

// 140 ms is less than five median steps.
TEST_F(WarmupTest, SaysNothingOfAnOnlyStepThatIsNotFarLonger) {
  stages_.serving = true;
  kernel(instance(kPrefill, 0, 140), {}, 0, 140);
  for (Nanoseconds at = 140; at < 260; at += 30) {
    kernel(instance(kDecode, at, at + 30), {}, at + 10, at + 30);
  }
  measure();
  EXPECT_FALSE(diagnostics_.has("cold_step_kept"));
}

TEST_F(WarmupTest, FlagsNoEngineStepsWithoutAPause) {
  stages_.serving = true;
  for (Nanoseconds i = 0; i < 12; ++i) {
    const Nanoseconds wall = i < 2 ? 40 : 10;
    kernel(instance(kDecode, i * 50, i * 50 + wall), {}, i * 50, i * 50 + wall);
  }
  measure();
  EXPECT_EQ(warmups(), std::vector<bool>(12, false));
}

// The first request captures its graph: as many launches as kernels ran nothing.
TEST_F(WarmupTest, SaysThatAGraphIsCapturedInAWarmUp) {
  trace::LaunchTable& launches = trace_.builder().trace().launches;
  for (int i = 0; i < 5; ++i) {
    launches.start.push_back(100 + i);
    launches.end.push_back(101 + i);
    launches.thread.push_back(trace_.thread(1));
    launches.api.push_back(trace_.builder().string("cudaLaunchKernel_v7000"));
    launches.correlation.push_back(900'000 + static_cast<uint32_t>(i));
  }
  for (int i = 0; i < 4; ++i) request(1000 * i, i == 0 ? 400 : 100, 8, 10);
  measure();
  EXPECT_EQ(warmups(), (std::vector<bool>{true, true, false, false, false, false, false, false}));
  const auto said = std::find_if(diagnostics_.items().begin(), diagnostics_.items().end(),
                                 [](const Diagnostic& d) { return d.code == "warmup_set_apart"; });
  ASSERT_NE(said, diagnostics_.items().end());
  EXPECT_NE(said->message.find("a CUDA graph is captured in 1 of them"), std::string::npos)
      << said->message;
}

// A decoder in JAX on an H200, in us: it compiles in its first request. The second one is a third
// longer than the longest other one, within the machine's noise.
TEST_F(WarmupTest, FlagsOnlyTheRequestThatCompiles) {
  const std::array<Nanoseconds, 6> prefills = {897'650, 12'940, 8'220, 9'250, 8'100, 8'340};
  const std::array<Nanoseconds, 6> decodes = {147'600, 131'270, 128'940, 129'000, 164'280, 166'240};
  Nanoseconds start = 0;
  for (size_t i = 0; i < prefills.size(); ++i) {
    const InstanceId first = instance(kPrefill, start, start + prefills[i]);
    kernel(first, {}, start, start + 3'910);
    const Nanoseconds begin = start + prefills[i];
    const InstanceId loop = instance(kDecode, begin, begin + decodes[i]);
    kernel(loop, step(loop, begin), begin, begin + 88'500);
    start += 3'000'000;
  }
  measure();
  std::vector<bool> expected(12, false);
  expected[0] = expected[1] = true;
  EXPECT_EQ(warmups(), expected);
}

// Hugging Face, eager, on an H200, in us: three requests of a program that had already warmed up.
TEST_F(WarmupTest, FlagsNoSecondRequestForNoise) {
  const std::array<Nanoseconds, 3> prefills = {21'156, 20'105, 13'756};
  const std::array<Nanoseconds, 3> decodes = {1'279'038, 922'406, 817'715};
  Nanoseconds start = 0;
  for (size_t i = 0; i < prefills.size(); ++i) {
    const InstanceId first = instance(kPrefill, start, start + prefills[i]);
    kernel(first, {}, start, start + 3'900);
    const Nanoseconds begin = start + prefills[i];
    const InstanceId loop = instance(kDecode, begin, begin + decodes[i]);
    kernel(loop, step(loop, begin), begin, begin + 123'000);
    start += 3'000'000;
  }
  measure();
  EXPECT_FALSE(stages_.instances[2].warmup || stages_.instances[3].warmup);
  EXPECT_EQ(stages_.stages[kPrefill].wall.count, 2U);
}

}  // namespace
}  // namespace llmprof::analysis
