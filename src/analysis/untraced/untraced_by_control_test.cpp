#include <gtest/gtest.h>

#include "testing/timed_requests.h"

namespace llmprof::analysis {
namespace {

TEST(UntracedByControl, TimesTheSameLaunchesWithoutWarmUp) {
  TimedRequests recorded(100);
  recorded.record();
  TimedRequests control(7'000);
  control.note_requests(900, 940);
  expect_times_by_instance(recorded.find(&control));
}

TEST(UntracedByControl, FindsThePassesAmongOtherLaunches) {
  TimedRequests recorded(100);
  recorded.record();
  TimedRequests control(7'000);
  control.note_other_work();
  control.note_requests(900, 940);
  expect_times_by_instance(recorded.find(&control));
}

// One more step in each request. The warm-up's prefill and its first three steps are excluded, as
// many as are warm-up in the recorded run.
TEST(UntracedByControl, OfOtherNumbersOfPassesTimesEachPass) {
  TimedRequests recorded(100);
  recorded.record();
  TimedRequests control(7'000);
  control.note_request(10'000, 5000, {900, 900, 900, 180});
  control.note_request(20'000, 900, {180, 180, 180, 180});
  control.note_request(30'000, 900, {180, 180, 180, 180});
  const UntracedStages untraced = recorded.find(&control);
  const StageUntraced& prefill = untraced.stages.at(0);
  expect_whole_stage(prefill);
  EXPECT_EQ(prefill.wall, 900);
  EXPECT_EQ(prefill.passes, 2U);
  EXPECT_EQ(prefill.instances, 0U);
  const StageUntraced& decode = untraced.stages.at(1);
  expect_whole_stage(decode);
  EXPECT_EQ(decode.passes, 9U);
  EXPECT_EQ(decode.per_step, 180);
  EXPECT_EQ(decode.wall, 540);  // for three steps, as recorded
  EXPECT_EQ(decode.added, 60);
}

// Compiled code: the first request of a process tunes, with different launches in each process;
// decode launches run ahead of the GPU, and its tokens are joined before the host waits.
TEST(UntracedByControl, OfCompiledCodeThatTunesAndRunsAhead) {
  const auto decode_ahead = [](TimedRequests& program, Nanoseconds base, Nanoseconds time) {
    for (int i = 0; i < 20; ++i) program.note_graph(base + 5 * i);
    program.note_kernels(40, 3, base + 100);
    program.t.noted(CallKind::wait, 0, base + 150, base + time);
  };
  TimedRequests recorded(100);
  const uint32_t decode = recorded.t.stage("decode");
  for (int request = 0; request < 4; ++request) {
    const Nanoseconds base = 100'000 * (request + 1);
    recorded.t.instance(decode, base, base + 4000).warmup = request == 0;
    for (int i = 0; i < 20; ++i) {
      recorded.t.step(base + 200 * i, base + 200 * (i + 1));
      recorded.t.replay(base + 200 * i + 50, base + 200 * (i + 1),
                        recorded.t.call("cudaGraphLaunch", base + 5 * i + 1, base + 5 * i + 4));
    }
    decode_ahead(recorded, base, 4000);
  }
  TimedRequests control(7'000);
  control.note_kernels(60, 30, 1'000);  // tunes
  decode_ahead(control, 50'000, 40'000);
  control.note_kernels(60, 30, 95'000);
  for (int request = 1; request < 4; ++request) {
    decode_ahead(control, 100'000 * (request + 1), 3200);
  }
  const StageUntraced stage = recorded.find(&control).stages.at(0);
  expect_whole_stage(stage);
  EXPECT_EQ(stage.source, UntracedSource::control_launches);
  EXPECT_EQ(stage.wall, 3200);
  EXPECT_EQ(stage.per_step, 160);
  EXPECT_EQ(stage.added, 800);
}

TEST(UntracedByControl, AColdPassDoesNotStandForLaterOnes) {
  for (const bool only_the_first : {false, true}) {
    for (const int prefills : {3, 4}) {  // three were recorded
      TimedRequests recorded(100);
      recorded.record();
      for (StageInstance& instance : recorded.t.stages().instances) instance.warmup = false;
      recorded.t.stages().stages[0].only_the_first = only_the_first;
      TimedRequests control(7'000);
      for (int i = 0; i < prefills; ++i) {
        control.note_request(10'000 + i * 10'000, 1000, std::vector<Nanoseconds>(11, 180));
      }
      const UntracedStages untraced = recorded.find(&control);
      EXPECT_EQ(untraced.stages.at(0).known(), !only_the_first || prefills == 4) << prefills;
      EXPECT_TRUE(untraced.stages.at(1).known());
    }
  }
}

TEST(UntracedByControl, OtherLaunchesAreNotTimed) {
  TimedRequests recorded(100);
  recorded.record();
  TimedRequests control(7'000);
  control.note_other_work();
  const UntracedStages untraced = recorded.find(&control);
  EXPECT_EQ(untraced.stages.at(0).why_not, NoUntracedTime::launches_differ);
  EXPECT_EQ(untraced.stages.at(1).why_not, NoUntracedTime::launches_differ);
}

TEST(UntracedByControl, AThirdOfThePassesIsNotEnough) {
  TimedRequests recorded(100);
  recorded.record();
  TimedRequests control(7'000);
  control.note_request(20'000, 900, {180, 180, 180});
  EXPECT_EQ(recorded.find(&control).stages.at(1).why_not, NoUntracedTime::launches_differ);
}

TEST(UntracedByControl, WithoutAControlRunThereIsNoOtherTime) {
  TimedRequests recorded(100);
  recorded.record();
  const UntracedStages untraced = recorded.find(nullptr);
  EXPECT_EQ(untraced.stages.at(0).why_not, NoUntracedTime::no_other_time);
  EXPECT_EQ(untraced.stages.at(1).why_not, NoUntracedTime::no_other_time);
}

TEST(UntracedByControl, TheWorkloadsClockComesFirstWhereItFits) {
  TimedRequests recorded(100);
  recorded.record();
  recorded.t.workload_time("prefill", 0.00096);
  recorded.t.workload_time("decode", 0.01);  // for other work
  TimedRequests control(7'000);
  control.note_requests(900, 940);
  const UntracedStages untraced = recorded.find(&control);
  EXPECT_EQ(untraced.stages.at(0).source, UntracedSource::workload_clock);
  EXPECT_DOUBLE_EQ(untraced.stages.at(0).wall, 960);
  expect_whole_stage(untraced.stages.at(1));
  EXPECT_EQ(untraced.stages.at(1).source, UntracedSource::control_launches);
  EXPECT_EQ(untraced.stages.at(1).wall, 555);
}

}  // namespace
}  // namespace llmprof::analysis
