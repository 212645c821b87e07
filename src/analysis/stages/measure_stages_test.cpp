#include "analysis/stages/measure_stages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "testing/hand_made_trace.h"

namespace llmprof::analysis {
namespace {

// Hand-made instances, steps and owners, with one kernel per step or instance.
class MeasureStagesTest : public ::testing::Test {
 protected:
  MeasureStagesTest() {
    for (const char* name : {"prefill", "decode"}) {
      Stage stage;
      stage.name = name;
      stages_.stages.push_back(stage);
    }
  }

  InstanceId instance(uint32_t stage, Nanoseconds start, Nanoseconds end) {
    StageInstance made;
    made.stage = stage;
    made.process = trace::ProcessId(0);
    made.device = trace::DeviceId(0);
    made.start = start;
    made.range_end = end;
    stages_.instances.push_back(made);
    return InstanceId(stages_.instances.size() - 1);
  }

  StepId step(InstanceId instance, Nanoseconds start) {
    Step made;
    made.instance = instance;
    made.start = start;
    stages_.steps.push_back(made);
    return StepId(stages_.steps.size() - 1);
  }

  void kernel(InstanceId instance, StepId step, Nanoseconds start, Nanoseconds end) {
    trace_.kernel("k", start, start, end);
    stages_.owners.kernel_instance.push_back(instance);
    stages_.owners.kernel_step.push_back(step);
  }

  // A request at `start`: a prefill, then a decode with steps, each filled by its kernel.
  void request(Nanoseconds start, Nanoseconds prefill, uint32_t steps, Nanoseconds a_step) {
    const InstanceId first = instance(kPrefill, start, start + prefill);
    kernel(first, {}, start, start + prefill);
    Nanoseconds time = start + prefill;
    const InstanceId loop = instance(kDecode, time, time + steps * a_step);
    for (uint32_t i = 0; i < steps; ++i, time += a_step) {
      kernel(loop, step(loop, time), time, time + a_step);
    }
  }

  void measure() {
    frozen_ = trace_.freeze();
    measure_stages(frozen_, stages_, diagnostics_);
  }

  std::vector<bool> warmups() const {
    std::vector<bool> flags;
    for (const StageInstance& each : stages_.instances) flags.push_back(each.warmup);
    return flags;
  }

  static constexpr uint32_t kPrefill = 0;
  static constexpr uint32_t kDecode = 1;
  testing::HandMadeTrace trace_;
  trace::Trace frozen_;
  Stages stages_;
  Diagnostics diagnostics_;
};

TEST_F(MeasureStagesTest, CountsOverlapOnceInBusyTime) {
  const InstanceId prefill = instance(kPrefill, 0, 100);
  kernel(prefill, {}, 10, 20);
  kernel(prefill, {}, 15, 30);
  trace_.copy(0, 25, 40);
  stages_.owners.memory_instance = {prefill};
  trace_.replay(0, 50, 60);
  stages_.owners.replay_instance = {prefill};
  kernel(prefill, {}, 55, 58);
  measure();
  const GpuWork& work = stages_.instances[0].work;
  EXPECT_EQ(work.kernel_count, 3U);
  EXPECT_EQ(work.kernel_sum, 10 + 15 + 3);
  EXPECT_EQ(work.kernel_busy, 20 + 3);
  EXPECT_EQ(work.memory_sum, 15);
  EXPECT_EQ(work.hidden_graph_sum, 10);
  EXPECT_EQ(work.busy, 30 + 10);
}

TEST_F(MeasureStagesTest, ExtendsARangeToItsLastGpuWorkAndSaysSo) {
  kernel(instance(kPrefill, 0, 10), {}, 5, 3000010);
  kernel(instance(kPrefill, 4000000, 8000000), {}, 4000001, 4000002);
  measure();
  EXPECT_EQ(stages_.instances[0].end, 3000010);
  EXPECT_EQ(stages_.instances[0].range_end, 10);
  EXPECT_EQ(stages_.instances[1].end, 8000000);
  ASSERT_EQ(diagnostics_.items().size(), 1U);
  EXPECT_EQ(diagnostics_.items()[0].code, "stage_extended");
  EXPECT_EQ(diagnostics_.items()[0].count, 1U);
  EXPECT_NE(diagnostics_.items()[0].message.find("3.000 ms"), std::string::npos);
}

// The CPU runs ahead: all three steps are launched by 30, the GPU works until 100.
TEST_F(MeasureStagesTest, MeasuresAStepFromTheEndOfTheOneBefore) {
  const InstanceId loop = instance(kDecode, 0, 110);
  const StepId first = step(loop, 0);
  const StepId second = step(loop, 10);
  const StepId third = step(loop, 20);
  kernel(loop, first, 5, 38);
  kernel(loop, second, 40, 70);
  kernel(loop, third, 71, 80);
  kernel(loop, third, 90, 100);
  measure();
  EXPECT_EQ(stages_.steps[0].start, 0);
  EXPECT_EQ(stages_.steps[0].end, 38);
  EXPECT_EQ(stages_.steps[1].start, 38);
  EXPECT_EQ(stages_.steps[1].wall(), 32);
  EXPECT_EQ(stages_.steps[2].wall(), 30);
  EXPECT_EQ(stages_.steps[2].work.busy, 19);
  EXPECT_EQ(stages_.stages[0].name, "decode");
  EXPECT_EQ(stages_.stages[0].step_wall.count, 3U);
  ASSERT_TRUE(stages_.time_per_output_token);
  EXPECT_DOUBLE_EQ(stages_.time_per_output_token->mean, 37);  // 110 / 3, to the nanosecond
}

TEST_F(MeasureStagesTest, PutsInstancesAndStepsInOrderWithTheirOwners) {
  const InstanceId late = instance(kDecode, 100, 200);
  const InstanceId early = instance(kPrefill, 0, 50);
  const StepId second = step(late, 150);
  const StepId first = step(late, 100);
  kernel(early, {}, 10, 20);
  kernel(late, first, 110, 120);
  kernel(late, second, 160, 190);
  measure();
  EXPECT_EQ(stages_.stages[0].name, "prefill");
  EXPECT_EQ(stages_.instances[0].start, 0);
  EXPECT_EQ(stages_.instances[1].first_step, 0U);
  EXPECT_EQ(stages_.instances[1].step_count, 2U);
  EXPECT_EQ(stages_.owners.kernel_instance[0], InstanceId(0));
  EXPECT_EQ(stages_.owners.kernel_instance[2], InstanceId(1));
  EXPECT_EQ(stages_.owners.kernel_step[1], StepId(0));
  EXPECT_EQ(stages_.owners.kernel_step[2], StepId(1));
  EXPECT_EQ(stages_.steps[1].wall(), 70);  // 120 to 190
}

TEST_F(MeasureStagesTest, FlagsAFirstRequestWithFewerSteps) {
  request(0, 100, 4, 10);
  request(1000, 100, 16, 10);
  measure();
  EXPECT_EQ(warmups(), (std::vector<bool>{true, true, false, false}));
  EXPECT_EQ(stages_.stages[1].step_wall.count, 16U);
  ASSERT_TRUE(diagnostics_.has("warmup_set_apart"));
}

TEST_F(MeasureStagesTest, FlagsSeveralShortRequestsInFront) {
  request(0, 900, 1, 10);
  request(1000, 300, 1, 10);
  for (Nanoseconds i = 2; i < 5; ++i) request(i * 1000, 100, 24, 10);
  measure();
  EXPECT_EQ(warmups(),
            (std::vector<bool>{true, true, true, true, false, false, false, false, false, false}));
}

TEST_F(MeasureStagesTest, FlagsAFirstRequestThatIsClearlySlower) {
  request(0, 500, 8, 10);
  for (Nanoseconds i = 1; i < 4; ++i) request(i * 1000, 100 + i, 8, 10);
  measure();
  EXPECT_EQ(warmups(), (std::vector<bool>{true, true, false, false, false, false, false, false}));
}

// Eager code on a busy host: later prefills vary by half, and the cold first one takes ten times as
// long for the same 80 ns of GPU work.
TEST_F(MeasureStagesTest, FlagsAColdFirstRequestAmongThoseThatVary) {
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
TEST_F(MeasureStagesTest, FlagsTheColdRequestOfANoisyEagerProgram) {
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

// The same noise without a cold start: less than twice the longest later instance is noise.
TEST_F(MeasureStagesTest, FlagsNothingInANoisyEagerProgramThatIsWarm) {
  Nanoseconds start = 0;
  for (const Nanoseconds prefill : {55'000, 17'910, 30'006, 22'745, 17'350}) {
    const InstanceId first = instance(kPrefill, start, start + prefill);
    kernel(first, {}, start, start + 4'475);
    start += 3'000'000;
  }
  measure();
  EXPECT_EQ(warmups(), std::vector<bool>(5, false));
}

// Windows of an overhead budget: the first sees the program's first prefill, the second some decode
// steps.
TEST_F(MeasureStagesTest, SaysThatTheOnlyPrefillIsAColdOne) {
  trace_.collection(0, true, trace::CollectionReason::program_start);
  trace_.collection(900, false, trace::CollectionReason::budget);
  trace_.collection(5'000, true, trace::CollectionReason::budget);
  trace_.collection(9'000, false, trace::CollectionReason::process_end);
  const InstanceId first = instance(kPrefill, 100, 800);
  kernel(first, {}, 100, 800);
  const InstanceId loop = instance(kDecode, 6'000, 6'400);
  for (Nanoseconds i = 0; i < 4; ++i) {
    const Nanoseconds begin = 6'000 + 100 * i;
    kernel(loop, step(loop, begin), begin, begin + 100);
  }
  measure();
  EXPECT_TRUE(stages_.stages[kPrefill].only_the_first);
  EXPECT_FALSE(stages_.stages[kDecode].only_the_first);
  EXPECT_TRUE(diagnostics_.has("only_first_recorded"));
}

// Two equal prefills, or a cold one and a warm one.
TEST_F(MeasureStagesTest, SaysThatTheFirstTwoPrefillsMayBeCold) {
  trace_.collection(0, true, trace::CollectionReason::program_start);
  trace_.collection(3'000, false, trace::CollectionReason::budget);
  trace_.collection(5'000, true, trace::CollectionReason::budget);
  trace_.collection(9'000, false, trace::CollectionReason::process_end);
  for (const Nanoseconds start : {100, 1'000}) {
    const InstanceId prefill = instance(kPrefill, start, start + 700);
    kernel(prefill, {}, start, start + 700);
  }
  measure();
  EXPECT_TRUE(stages_.stages[kPrefill].only_the_first);
}

TEST_F(MeasureStagesTest, DoesNotCallAPrefillColdBehindAWarmUp) {
  trace_.collection(0, true, trace::CollectionReason::program_start);
  trace_.collection(3'000, false, trace::CollectionReason::budget);
  trace_.collection(5'000, true, trace::CollectionReason::budget);
  trace_.collection(9'000, false, trace::CollectionReason::process_end);
  for (const auto& [start, time] :
       {std::pair<Nanoseconds, Nanoseconds>{100, 1'600}, {2'000, 700}}) {
    const InstanceId prefill = instance(kPrefill, start, start + time);
    kernel(prefill, {}, start, start + 690);
  }
  measure();
  EXPECT_EQ(warmups(), (std::vector<bool>{true, false}));
  EXPECT_FALSE(stages_.stages[kPrefill].only_the_first);
}

// Attached late: nothing shows that the prefill is the first.
TEST_F(MeasureStagesTest, DoesNotCallAPrefillColdBeforeWhichOthersMayHaveRun) {
  trace_.collection(50, true, trace::CollectionReason::command);
  trace_.collection(900, false, trace::CollectionReason::command);
  trace_.collection(5'000, true, trace::CollectionReason::command);
  const InstanceId first = instance(kPrefill, 100, 800);
  kernel(first, {}, 100, 800);
  measure();
  EXPECT_FALSE(stages_.stages[kPrefill].only_the_first);
  EXPECT_FALSE(diagnostics_.has("only_first_recorded"));
}

// 2 % slower, while the others are within 0.1 % of each other.
TEST_F(MeasureStagesTest, FlagsAFirstRequestThatIsMeasurablySlower) {
  request(0, 100, 10, 10200);
  request(1000000, 110, 10, 10000);
  request(2000000, 105, 10, 10010);
  measure();
  EXPECT_EQ(warmups(), (std::vector<bool>{true, true, false, false, false, false}));
}

TEST_F(MeasureStagesTest, FlagsNothingWhereTheFirstIsLikeTheOthers) {
  request(0, 100, 8, 10);
  request(1000, 102, 8, 10);
  request(2000, 99, 8, 10);
  measure();
  EXPECT_EQ(warmups(), std::vector<bool>(6, false));
  EXPECT_FALSE(diagnostics_.has("warmup_set_apart"));
}

TEST_F(MeasureStagesTest, FlagsNothingAmongRequestsOfAllLengths) {
  request(0, 300, 20, 10);
  request(1000, 100, 35, 10);
  request(2000, 800, 12, 10);
  request(4000, 200, 50, 10);
  measure();
  EXPECT_EQ(warmups(), std::vector<bool>(8, false));
}

TEST_F(MeasureStagesTest, FlagsNothingWithOneRequest) {
  request(0, 500, 8, 10);
  measure();
  EXPECT_EQ(warmups(), std::vector<bool>(2, false));
  EXPECT_EQ(stages_.stages[0].wall.count, 1U);
}

// With a single other request, prompts may differ: twice the GPU time is twice the prompt.
TEST_F(MeasureStagesTest, DoesNotTakeALongerPromptForAWarmup) {
  request(0, 200, 8, 10);
  request(1000, 100, 8, 10);
  measure();
  EXPECT_EQ(warmups(), std::vector<bool>(4, false));
}

TEST_F(MeasureStagesTest, KeepsTheOnlyDecode) {
  request(0, 500, 8, 10);
  for (Nanoseconds i = 1; i < 4; ++i) {
    kernel(instance(kPrefill, i * 1000, i * 1000 + 100), {}, i * 1000, i * 1000 + 90);
  }
  measure();
  EXPECT_EQ(warmups(), (std::vector<bool>{true, false, false, false, false}));
}

TEST_F(MeasureStagesTest, FlagsSlowEngineStepsBeforeALongPause) {
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
TEST_F(MeasureStagesTest, FlagsAColdFirstEngineStep) {
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
TEST_F(MeasureStagesTest, KeepsTheOnlyStepOfItsKindAndSaysSo) {
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
TEST_F(MeasureStagesTest, SaysNothingOfAnOnlyStepThatIsNotFarLonger) {
  stages_.serving = true;
  kernel(instance(kPrefill, 0, 140), {}, 0, 140);
  for (Nanoseconds at = 140; at < 260; at += 30) {
    kernel(instance(kDecode, at, at + 30), {}, at + 10, at + 30);
  }
  measure();
  EXPECT_FALSE(diagnostics_.has("cold_step_kept"));
}

TEST_F(MeasureStagesTest, FlagsNoEngineStepsWithoutAPause) {
  stages_.serving = true;
  for (Nanoseconds i = 0; i < 12; ++i) {
    const Nanoseconds wall = i < 2 ? 40 : 10;
    kernel(instance(kDecode, i * 50, i * 50 + wall), {}, i * 50, i * 50 + wall);
  }
  measure();
  EXPECT_EQ(warmups(), std::vector<bool>(12, false));
}

// A killed program: its last decode has 5 of 8 steps.
TEST_F(MeasureStagesTest, ALastDecodeThatIsCutOffIsInNoMean) {
  for (int i = 0; i < 3; ++i) request(1000 * i, 100, 8, 10);
  request(3000, 100, 5, 10);
  measure();
  EXPECT_EQ(warmups(), (std::vector<bool>{false, false, false, false, false, false, false, true}));
  EXPECT_EQ(stages_.stages[kDecode].wall.count, 3U);
  const auto said = std::find_if(diagnostics_.items().begin(), diagnostics_.items().end(),
                                 [](const Diagnostic& d) { return d.code == "stage_cut_off"; });
  ASSERT_NE(said, diagnostics_.items().end());
  EXPECT_NE(said->message.find("the last instance of decode is cut off"), std::string::npos);
}

// The warm-up shows how many steps a decode has. No other instance is complete, so this one is kept
// and reported as partial.
TEST_F(MeasureStagesTest, TheOnlyDecodeThatIsCutOffIsSaidToBeAPart) {
  request(0, 400, 8, 40);
  request(1000, 400, 8, 40);
  request(2000, 100, 5, 10);
  for (size_t i = 0; i < 4; ++i) stages_.instances[i].warmup = true;
  measure();
  EXPECT_EQ(stages_.stages[kDecode].wall.count, 1U);
  const auto said = std::find_if(diagnostics_.items().begin(), diagnostics_.items().end(),
                                 [](const Diagnostic& d) { return d.code == "stage_cut_off"; });
  ASSERT_NE(said, diagnostics_.items().end());
  EXPECT_NE(said->message.find("the stage's times cover only a part"), std::string::npos);
}

// The first request captures its graph: as many launches as kernels ran nothing.
TEST_F(MeasureStagesTest, SaysThatAGraphIsCapturedInAWarmUp) {
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

// Requests of different lengths: a shorter one at the end is as complete as the others.
TEST_F(MeasureStagesTest, AShortLastDecodeAmongDifferentOnesIsKept) {
  request(0, 100, 8, 10);
  request(1000, 100, 7, 10);
  request(2000, 100, 9, 10);
  request(3000, 100, 5, 10);
  measure();
  EXPECT_EQ(stages_.stages[kDecode].wall.count, 4U);
}

// Recording started within the first prefill: one of its three kernels was recorded.
TEST_F(MeasureStagesTest, AFirstInstanceThatHadBegunBeforeIsInNoMean) {
  for (int i = 0; i < 4; ++i) {
    const Nanoseconds start = 1000 * i;
    const InstanceId prefill = instance(kPrefill, start, start + 300);
    for (int kernels = i == 0 ? 2 : 0; kernels < 3; ++kernels) {
      kernel(prefill, {}, start + 100 * kernels, start + 100 * kernels + 50);
    }
  }
  measure();
  EXPECT_EQ(warmups(), (std::vector<bool>{true, false, false, false}));
}

// The step before the first one was not recorded: the GPU worked on it until 40 ms. One kernel of
// another stream ran meanwhile and belongs to no stage.
TEST_F(MeasureStagesTest, StartsTheFirstStepBehindWorkThatWasNotRecorded) {
  constexpr Nanoseconds kMs = 1'000'000;
  stages_.serving = true;
  const InstanceId first = instance(kPrefill, 0, 3 * kMs);
  testing::HandMadeTrace::Place other;
  other.stream = 8;
  trace_.kernel("a", 0, 1000, 2000, other);
  trace_.kernel("b", 3000, 40 * kMs, 70 * kMs);
  trace_.kernel("c", 4000, 70 * kMs, 90 * kMs);
  stages_.owners.kernel_instance = {first, first, first};
  stages_.owners.kernel_step.resize(3);
  measure();
  EXPECT_EQ(stages_.instances[0].start, 40 * kMs);
  EXPECT_EQ(stages_.instances[0].wall(), 50 * kMs);
  EXPECT_EQ(stages_.instances[0].work.kernel_count, 2U);
  EXPECT_EQ(stages_.coverage.kernels_in_stages, 2U);
  EXPECT_TRUE(diagnostics_.has("unrecorded_work_before"));
}

// A profiler starts within the first step: 60 ms before its first kernel, 20 ms of work. If it is
// the only step, it is kept without them; next to another step, statistics exclude it.
TEST_F(MeasureStagesTest, DoesNotCountWhatPrecedesTheFirstWorkOfTheCapture) {
  stages_.serving = true;
  kernel(instance(kPrefill, 0, 80), {}, 60, 80);
  measure();
  EXPECT_EQ(stages_.instances[0].wall(), 20);
  EXPECT_EQ(stages_.stages[kPrefill].wall.count, 1U);
}

TEST_F(MeasureStagesTest, LeavesOutAFirstStepThatBeganBeforeRecordingDid) {
  stages_.serving = true;
  kernel(instance(kPrefill, 0, 80), {}, 60, 80);
  kernel(instance(kPrefill, 80, 110), {}, 90, 110);
  measure();
  EXPECT_EQ(warmups(), (std::vector<bool>{true, false}));
  EXPECT_EQ(stages_.instances[0].why_warmup, WarmupReason::cut_off);
  EXPECT_DOUBLE_EQ(stages_.stages[kPrefill].wall.mean, 30);
}

// A decoder in JAX on an H200, in us: it compiles in its first request. The second one is a third
// longer than the longest other one, within the machine's noise.
TEST_F(MeasureStagesTest, FlagsOnlyTheRequestThatCompiles) {
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
TEST_F(MeasureStagesTest, FlagsNoSecondRequestForNoise) {
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
