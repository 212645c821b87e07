#include <gtest/gtest.h>

#include <algorithm>

#include "testing/stages_fixture.h"

namespace llmprof::analysis {
namespace {

using PartialTest = StagesFixture;

// Windows of an overhead budget: the first sees the program's first prefill, the second some decode
// steps.
TEST_F(PartialTest, SaysThatTheOnlyPrefillIsAColdOne) {
  trace_.tracing_changes(0, true, trace::TracingReason::program_start);
  trace_.tracing_changes(900, false, trace::TracingReason::budget);
  trace_.tracing_changes(5'000, true, trace::TracingReason::budget);
  trace_.tracing_changes(9'000, false, trace::TracingReason::process_end);
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
TEST_F(PartialTest, SaysThatTheFirstTwoPrefillsMayBeCold) {
  trace_.tracing_changes(0, true, trace::TracingReason::program_start);
  trace_.tracing_changes(3'000, false, trace::TracingReason::budget);
  trace_.tracing_changes(5'000, true, trace::TracingReason::budget);
  trace_.tracing_changes(9'000, false, trace::TracingReason::process_end);
  for (const Nanoseconds start : {100, 1'000}) {
    const InstanceId prefill = instance(kPrefill, start, start + 700);
    kernel(prefill, {}, start, start + 700);
  }
  measure();
  EXPECT_TRUE(stages_.stages[kPrefill].only_the_first);
}

TEST_F(PartialTest, DoesNotCallAPrefillColdBehindAWarmUp) {
  trace_.tracing_changes(0, true, trace::TracingReason::program_start);
  trace_.tracing_changes(3'000, false, trace::TracingReason::budget);
  trace_.tracing_changes(5'000, true, trace::TracingReason::budget);
  trace_.tracing_changes(9'000, false, trace::TracingReason::process_end);
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
TEST_F(PartialTest, DoesNotCallAPrefillColdBeforeWhichOthersMayHaveRun) {
  trace_.tracing_changes(50, true, trace::TracingReason::command);
  trace_.tracing_changes(900, false, trace::TracingReason::command);
  trace_.tracing_changes(5'000, true, trace::TracingReason::command);
  const InstanceId first = instance(kPrefill, 100, 800);
  kernel(first, {}, 100, 800);
  measure();
  EXPECT_FALSE(stages_.stages[kPrefill].only_the_first);
  EXPECT_FALSE(diagnostics_.has("only_first_recorded"));
}

// A killed program: its last decode has 5 of 8 steps.
TEST_F(PartialTest, ALastDecodeThatIsCutOffIsInNoMean) {
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
TEST_F(PartialTest, TheOnlyDecodeThatIsCutOffIsSaidToBeAPart) {
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

// Requests of different lengths: a shorter one at the end is as complete as the others.
TEST_F(PartialTest, AShortLastDecodeAmongDifferentOnesIsKept) {
  request(0, 100, 8, 10);
  request(1000, 100, 7, 10);
  request(2000, 100, 9, 10);
  request(3000, 100, 5, 10);
  measure();
  EXPECT_EQ(stages_.stages[kDecode].wall.count, 4U);
}

// Recording started within the first prefill: one of its three kernels was recorded.
TEST_F(PartialTest, AFirstInstanceThatHadBegunBeforeIsInNoMean) {
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

TEST_F(PartialTest, LeavesOutAFirstStepThatBeganBeforeRecordingDid) {
  stages_.serving = true;
  kernel(instance(kPrefill, 0, 80), {}, 60, 80);
  kernel(instance(kPrefill, 80, 110), {}, 90, 110);
  measure();
  EXPECT_EQ(warmups(), (std::vector<bool>{true, false}));
  EXPECT_EQ(stages_.instances[0].why_warmup, WarmupReason::cut_off);
  EXPECT_DOUBLE_EQ(stages_.stages[kPrefill].wall.mean, 30);
}

}  // namespace
}  // namespace llmprof::analysis
