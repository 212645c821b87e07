#include <gtest/gtest.h>

#include "testing/timed_requests.h"

namespace llmprof::analysis {
namespace {

// A decode of 14 steps of one CUDA graph: 4 traced ones of 200 with 150 busy, and 10 of 160 after
// CUPTI was detached.
class Windows {
 public:
  static constexpr Nanoseconds kDetached = 800;

  Windows() {
    t.tracing_changes(0, true, trace::TracingReason::program_start);
    t.detached(kDetached, 0);
    t.instance(t.stage("decode"), 0, 2600).untraced_steps = 10;
    for (int i = 0; i < 4; ++i) {
      const Nanoseconds start = 200 * i;
      t.step(start, start + 200);
      t.replay(start + 50, start + 200, t.call("cudaGraphLaunch", start + 1, start + 5));
      note_step(start, 200);
    }
  }
  void note_step(Nanoseconds start, Nanoseconds time) {
    t.noted(CallKind::graph, 7, start, start);
    t.noted(CallKind::wait, 0, start + 10, start + time);
  }
  StageUntraced find() {
    const Budgets budgets = t.budgets();
    return find_untraced_times(t.trace(), t.stages(), budgets, nullptr, false).stages.at(0);
  }

  TestTrace t;
};

// Steps of the same process that are up to twice as slow count as the same steps; slower ones do
// not.
TEST(UntracedBetweenWindows, MayBeTwiceAsLongAsTraced) {
  for (const Nanoseconds time : {390, 410}) {
    Windows windows;
    for (int i = 0; i < 10; ++i) windows.note_step(1000 + time * i, time);
    const StageUntraced decode = windows.find();
    EXPECT_EQ(decode.known(), time < 400);
    EXPECT_EQ(decode.why_not == NoUntracedTime::does_not_fit, time > 400);
  }
}

// 14 steps in the run with windows; there they are too slow to be the traced ones.
TEST(UntracedByControl, PassesThatAreSeldomThereAreOthers) {
  for (const int steps : {4, 12}) {
    Windows windows;
    for (int i = 0; i < 10; ++i) windows.note_step(1000 + 410 * i, 410);
    TestTrace control;
    control.noted(CallKind::kernel, 1, 10, 10);
    for (int i = 0; i < steps; ++i) {
      control.noted(CallKind::graph, 7, 1000 + 170 * i, 1000 + 170 * i);
      control.noted(CallKind::wait, 0, 1010 + 170 * i, 1170 + 170 * i);
    }
    const Budgets budgets = windows.t.budgets();
    const StageUntraced decode = find_untraced_times(windows.t.trace(), windows.t.stages(), budgets,
                                                     &control.freeze(), false)
                                     .stages.at(0);
    EXPECT_EQ(decode.known(), steps == 12) << steps;
  }
}

// The first two passes still recover from tracing and the last may be cut, so 7 are timed. 14 steps
// of 160 make 2240, with 150 busy each 2100. Traced, they would have taken 2800.
TEST(UntracedBetweenWindows, TimesWhatRanWhileNothingWasTraced) {
  Windows windows;
  for (int i = 0; i < 10; ++i) windows.note_step(1000 + 160 * i, i < 2 ? 155 : 160);
  const StageUntraced decode = windows.find();
  expect_whole_stage(decode);
  EXPECT_EQ(decode.source, UntracedSource::between_windows);
  EXPECT_EQ(decode.passes, 7U);
  EXPECT_EQ(decode.instances, 0U);
  EXPECT_EQ(decode.per_step, 160);
  EXPECT_EQ(decode.wall, 2240);
  EXPECT_EQ(decode.added, 560);
  EXPECT_EQ(decode.idle, 140);
  EXPECT_DOUBLE_EQ(decode.idle_scale, 0.2);
  EXPECT_EQ(untraced_parts(decode).at("hidden CUDA graphs"), 2100);
}

TEST(UntracedBetweenWindows, AFewPassesAreNotEnough) {
  Windows windows;
  for (int i = 0; i < 3; ++i) windows.note_step(1000 + 160 * i, 160);
  EXPECT_EQ(windows.find().why_not, NoUntracedTime::no_other_time);
}

}  // namespace
}  // namespace llmprof::analysis
