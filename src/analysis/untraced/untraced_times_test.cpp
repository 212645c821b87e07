#include "analysis/untraced/untraced_times.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "testing/staged_trace.h"

namespace llmprof::analysis {
namespace {

using CallKind = trace::HostCallTable::Kind;

// The nonzero parts, by name.
std::map<std::string, double> unwatched_parts(const StageUnwatched& stage) {
  std::map<std::string, double> parts;
  for (size_t part = 0; part < kBudgetParts; ++part) {
    if (stage.parts[part] != 0) parts[std::string(budget_part_name(part))] = stage.parts[part];
  }
  return parts;
}
double sum_of_parts(const StageUnwatched& stage) {
  return std::accumulate(stage.parts.begin(), stage.parts.end(), 0.0);
}
// Properties of every stage with a known untraced time.
void expect_whole_stage(const StageUnwatched& stage) {
  EXPECT_TRUE(stage.known());
  EXPECT_DOUBLE_EQ(sum_of_parts(stage), stage.wall);
  EXPECT_GE(stage.idle, 0);
  for (const double part : stage.parts) EXPECT_GE(part, 0);
}

// A prefill of 10 ms: 1 ms before its first kernel, 4 ms GEMM, 2 ms elementwise, 3 ms after.
class UnwatchedByWorkload : public ::testing::Test {
 protected:
  UnwatchedByWorkload() {
    t.instance(t.stage("prefill"), 0, 10'000'000);
    t.kernel("gemm", 1'000'000, 5'000'000);
    t.kernel("mul", 5'000'000, 7'000'000);
  }
  StageUnwatched find(bool selected = false) {
    const Budgets budgets = t.budgets();
    return find_unwatched(t.trace(), t.stages(), budgets, nullptr, selected).stages.at(0);
  }
  StageUnwatched find_with(double mean_ms) {
    t.workload_time("prefill", mean_ms);
    return find();
  }
  TestTrace t;
};

TEST_F(UnwatchedByWorkload, LeavesBusyTimesAndScalesIdleOnes) {
  const StageUnwatched stage = find_with(8);
  expect_whole_stage(stage);
  EXPECT_EQ(stage.source, UnwatchedSource::workload_clock);
  EXPECT_EQ(stage.wall, 8e6);
  EXPECT_EQ(stage.added, 2e6);
  EXPECT_EQ(stage.idle, 2e6);
  EXPECT_EQ(stage.idle_scale, 0.5);
  EXPECT_EQ(stage.busy_scale, 1);
  EXPECT_EQ(stage.passes, 0U);
  EXPECT_FALSE(stage.per_step);
  EXPECT_EQ(unwatched_parts(stage),
            (std::map<std::string, double>{{"gemm", 4e6},
                                           {"elementwise", 2e6},
                                           {"idle: before the first GPU work", 0.5e6},
                                           {"idle: after the last GPU work", 1.5e6}}));
}

TEST_F(UnwatchedByWorkload, SlowerThanTracedIsTimeThatTracingDidNotAdd) {
  const StageUnwatched stage = find_with(12);
  expect_whole_stage(stage);
  EXPECT_EQ(stage.added, -2e6);
  EXPECT_EQ(stage.idle, 6e6);
  EXPECT_EQ(stage.idle_scale, 1.5);
}

TEST_F(UnwatchedByWorkload, ShorterThanTheBusyTimeScalesThatDown) {
  const StageUnwatched stage = find_with(5.5);
  expect_whole_stage(stage);
  EXPECT_EQ(stage.idle, 0);
  EXPECT_EQ(stage.idle_scale, 0);
  EXPECT_DOUBLE_EQ(stage.busy_scale, 5.5 / 6);
  const auto parts = unwatched_parts(stage);
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_DOUBLE_EQ(parts.at("gemm"), 4e6 * 5.5 / 6);
  EXPECT_DOUBLE_EQ(parts.at("elementwise"), 2e6 * 5.5 / 6);
}
// 6 ms busy exceed 1.1 times 5.4 ms: other work, or the machine ran at another speed.
TEST_F(UnwatchedByWorkload, MuchShorterThanTheBusyTimeDoesNotFit) {
  const StageUnwatched stage = find_with(5.4);
  EXPECT_EQ(stage.why_not, NotUnwatched::does_not_fit);
  EXPECT_EQ(stage.wall, 0);
  EXPECT_EQ(sum_of_parts(stage), 0);
}

TEST_F(UnwatchedByWorkload, MuchLongerThanTracedDoesNotFit) {
  EXPECT_EQ(find_with(12.6).why_not, NotUnwatched::does_not_fit);
}
TEST_F(UnwatchedByWorkload, OneQuarterLongerFits) { expect_whole_stage(find_with(12.5)); }

TEST_F(UnwatchedByWorkload, IsOfTheStageOfThatNameAlone) {
  t.workload_time("decode", 8);
  t.workload_time("prefill", 0);  // not timed
  EXPECT_EQ(find().why_not, NotUnwatched::no_other_time);
}

TEST_F(UnwatchedByWorkload, IsNoneOfSelectedSteps) {
  t.workload_time("prefill", 8);
  EXPECT_EQ(find(true).why_not, NotUnwatched::selection);
}

TEST_F(UnwatchedByWorkload, IsNoneOnACpu) {
  t.device().kind = trace::DeviceKind::cpu;
  const StageUnwatched stage = find_with(8);
  EXPECT_EQ(stage.why_not, NotUnwatched::cpu_operators);
  EXPECT_EQ(stage.added, 0);
}

TEST_F(UnwatchedByWorkload, IsNoneOfAStageThatIsWarmUpAltogether) {
  t.stages().instances[0].warmup = true;
  EXPECT_EQ(find_with(8).why_not, NotUnwatched::warmup_only);
}

TEST_F(UnwatchedByWorkload, BudgetsForFindingsAreScaledWithTheirGaps) {
  t.workload_time("prefill", 8);
  const Budgets recorded = t.budgets();
  const Unwatched unwatched = find_unwatched(t.trace(), t.stages(), recorded, nullptr, false);
  const StageBudget& budget = unwatched.budgets.stages[0];
  const auto part = [](BudgetPart which) { return static_cast<size_t>(which); };
  EXPECT_EQ(budget.total[0], 4'000'000);  // gemm
  EXPECT_EQ(budget.total[part(BudgetPart::idle_before_first)], 500'000);
  EXPECT_EQ(budget.total[part(BudgetPart::idle_after_last)], 1'500'000);
  EXPECT_EQ(std::accumulate(budget.total.begin(), budget.total.end(), Nanoseconds{0}), 8'000'000);
  ASSERT_EQ(unwatched.budgets.gaps.size(), recorded.gaps.size());
  ASSERT_EQ(recorded.gaps.size(), 2U);
  EXPECT_EQ(recorded.gaps[0].length(), 3'000'000);
  EXPECT_EQ(unwatched.budgets.gaps[0].length(), 1'500'000);
  EXPECT_EQ(unwatched.budgets.gaps[0].start, recorded.gaps[0].start);
}

TEST(Unwatched, AStageWithoutIdleTimeGetsItAsUnattributed) {
  TestTrace t;
  t.instance(t.stage("prefill"), 0, 10'000'000);
  t.kernel("gemm", 0, 10'000'000);
  t.workload_time("prefill", 10.5);
  const Budgets budgets = t.budgets();
  const Unwatched unwatched = find_unwatched(t.trace(), t.stages(), budgets, nullptr, false);
  expect_whole_stage(unwatched.stages[0]);
  EXPECT_EQ(unwatched_parts(unwatched.stages[0]),
            (std::map<std::string, double>{{"gemm", 10e6}, {"unattributed", 0.5e6}}));
}

TEST(Unwatched, ATenthOfTheTracedTimeIsTheShortestThatFits) {
  for (const double mean_ms : {0.9, 1.1}) {
    TestTrace t;
    t.instance(t.stage("prefill"), 0, 10'000'000);
    t.kernel("gemm", 0, 500'000);
    t.workload_time("prefill", mean_ms);
    const Budgets budgets = t.budgets();
    const Unwatched unwatched = find_unwatched(t.trace(), t.stages(), budgets, nullptr, false);
    EXPECT_EQ(unwatched.stages[0].known(), mean_ms > 1) << mean_ms;
  }
}

// Requests with a prefill of eight consecutive kernels and three decode steps of one CUDA graph;
// the host waits for each pass. Traced, a prefill takes 1000 with 800 busy, a step 200 with 150
// busy. The first request is a warm-up.
class WatchedRequests {
 public:
  static constexpr Nanoseconds kFirst = 10'000;
  static constexpr Nanoseconds kApart = 10'000;
  static constexpr int kRequests = 3;

  // Another process has other handles.
  explicit WatchedRequests(uint64_t first_handle) : handle_(first_handle) {}

  void record() {
    const uint32_t prefill = t.stage("prefill");
    const uint32_t decode = t.stage("decode");
    for (int request = 0; request < kRequests; ++request) {
      const Nanoseconds base = kFirst + request * kApart;
      t.instance(prefill, base, base + 1000).warmup = request == 0;
      for (int i = 0; i < 8; ++i) {
        t.launched("gemm", base + 10 * i + 1, base + 200 + 100 * i, base + 300 + 100 * i);
      }
      t.instance(decode, base + 1000, base + 1600).warmup = request == 0;
      for (int i = 0; i < 3; ++i) {
        const Nanoseconds start = base + 1000 + 200 * i;
        t.step(start, start + 200);
        t.replay(start + 50, start + 200, t.call("cudaGraphLaunch", start + 1, start + 5));
      }
      note_request(base, 1000, {200, 200, 200});
    }
  }
  void note_request(Nanoseconds base, Nanoseconds prefill, const std::vector<Nanoseconds>& steps) {
    for (int i = 0; i < 8; ++i) note_launch(CallKind::kernel, i % 3, base + 10 * i);
    t.noted(CallKind::wait, 0, base + 80, base + prefill);
    Nanoseconds now = base + prefill;
    for (const Nanoseconds step : steps) {
      note_launch(CallKind::graph, 99, now);
      t.noted(CallKind::wait, 0, now + 10, now + step);
      now += step;
    }
  }
  void note_other_work() {
    for (int i = 0; i < 10; ++i) note_launch(CallKind::kernel, 20 + i, 100 * i);
  }
  void note_graph(Nanoseconds start) { note_launch(CallKind::graph, 99, start); }
  void note_kernels(int function, int count, Nanoseconds start) {
    for (int i = 0; i < count; ++i) note_launch(CallKind::kernel, function + i % 3, start + 2 * i);
  }
  Unwatched find(WatchedRequests* control) {
    const Budgets budgets = t.budgets();
    return find_unwatched(t.trace(), t.stages(), budgets,
                          control != nullptr ? &control->t.freeze() : nullptr, false);
  }

  TestTrace t;

 private:
  void note_launch(CallKind kind, int function, Nanoseconds start) {
    t.noted(kind, handle_ + static_cast<uint64_t>(function), start, start);
  }

  uint64_t handle_;
};

// Prefills of 900 and 940: 920 - 800 busy leaves 120. Steps of 180 and 190: decodes of 540 and 570,
// mean 555 with 450 busy.
void expect_times_by_instance(const Unwatched& unwatched) {
  const StageUnwatched& prefill = unwatched.stages.at(0);
  expect_whole_stage(prefill);
  EXPECT_EQ(prefill.source, UnwatchedSource::control_launches);
  EXPECT_EQ(prefill.wall, 920);
  EXPECT_EQ(prefill.added, 80);
  EXPECT_EQ(prefill.idle, 120);
  EXPECT_EQ(prefill.passes, 2U);
  EXPECT_EQ(prefill.instances, 2U);
  EXPECT_FALSE(prefill.per_step);
  const StageUnwatched& decode = unwatched.stages.at(1);
  expect_whole_stage(decode);
  EXPECT_EQ(decode.source, UnwatchedSource::control_launches);
  EXPECT_EQ(decode.wall, 555);
  EXPECT_EQ(decode.added, 45);
  EXPECT_EQ(decode.idle, 105);
  EXPECT_EQ(decode.per_step, 185);
  EXPECT_EQ(decode.passes, 6U);
  EXPECT_EQ(decode.instances, 2U);
  EXPECT_EQ(decode.all_passes, 0U);
  EXPECT_DOUBLE_EQ(unwatched_parts(decode).at("hidden CUDA graphs"), 450);
}

TEST(UnwatchedByControl, TimesTheSameLaunchesWithoutWarmUp) {
  WatchedRequests recorded(100);
  recorded.record();
  WatchedRequests control(7'000);
  control.note_request(10'000, 5000, {900, 900, 900});  // warms up
  control.note_request(20'000, 900, {180, 180, 180});
  control.note_request(30'000, 940, {190, 190, 190});
  expect_times_by_instance(recorded.find(&control));
}

TEST(UnwatchedByControl, FindsThePassesAmongOtherLaunches) {
  WatchedRequests recorded(100);
  recorded.record();
  WatchedRequests control(7'000);
  control.note_other_work();
  control.note_request(10'000, 5000, {900, 900, 900});
  control.note_request(20'000, 900, {180, 180, 180});
  control.note_request(30'000, 940, {190, 190, 190});
  expect_times_by_instance(recorded.find(&control));
}

// One more step in each request. The warm-up's prefill and its first three steps are excluded, as
// many as are warm-up in the recorded run.
TEST(UnwatchedByControl, OfOtherNumbersOfPassesTimesEachPass) {
  WatchedRequests recorded(100);
  recorded.record();
  WatchedRequests control(7'000);
  control.note_request(10'000, 5000, {900, 900, 900, 180});
  control.note_request(20'000, 900, {180, 180, 180, 180});
  control.note_request(30'000, 900, {180, 180, 180, 180});
  const Unwatched unwatched = recorded.find(&control);
  const StageUnwatched& prefill = unwatched.stages.at(0);
  expect_whole_stage(prefill);
  EXPECT_EQ(prefill.wall, 900);
  EXPECT_EQ(prefill.passes, 2U);
  EXPECT_EQ(prefill.instances, 0U);
  const StageUnwatched& decode = unwatched.stages.at(1);
  expect_whole_stage(decode);
  EXPECT_EQ(decode.passes, 9U);
  EXPECT_EQ(decode.per_step, 180);
  EXPECT_EQ(decode.wall, 540);  // for three steps, as recorded
  EXPECT_EQ(decode.added, 60);
}

// Compiled code: the first request of a process tunes, with different launches in each process;
// decode launches run ahead of the GPU, and its tokens are joined before the host waits.
TEST(UnwatchedByControl, OfCompiledCodeThatTunesAndRunsAhead) {
  const auto decode_ahead = [](WatchedRequests& program, Nanoseconds base, Nanoseconds time) {
    for (int i = 0; i < 20; ++i) program.note_graph(base + 5 * i);
    program.note_kernels(40, 3, base + 100);
    program.t.noted(CallKind::wait, 0, base + 150, base + time);
  };
  WatchedRequests recorded(100);
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
  WatchedRequests control(7'000);
  control.note_kernels(60, 30, 1'000);  // tunes
  decode_ahead(control, 50'000, 40'000);
  control.note_kernels(60, 30, 95'000);
  for (int request = 1; request < 4; ++request) {
    decode_ahead(control, 100'000 * (request + 1), 3200);
  }
  const StageUnwatched stage = recorded.find(&control).stages.at(0);
  expect_whole_stage(stage);
  EXPECT_EQ(stage.source, UnwatchedSource::control_launches);
  EXPECT_EQ(stage.wall, 3200);
  EXPECT_EQ(stage.per_step, 160);
  EXPECT_EQ(stage.added, 800);
}

TEST(UnwatchedByControl, AColdPassDoesNotStandForLaterOnes) {
  for (const bool only_the_first : {false, true}) {
    for (const int prefills : {3, 4}) {  // three were recorded
      WatchedRequests recorded(100);
      recorded.record();
      for (StageInstance& instance : recorded.t.stages().instances) instance.warmup = false;
      recorded.t.stages().stages[0].only_the_first = only_the_first;
      WatchedRequests control(7'000);
      for (int i = 0; i < prefills; ++i) {
        control.note_request(10'000 + i * 10'000, 1000, std::vector<Nanoseconds>(11, 180));
      }
      const Unwatched unwatched = recorded.find(&control);
      EXPECT_EQ(unwatched.stages.at(0).known(), !only_the_first || prefills == 4) << prefills;
      EXPECT_TRUE(unwatched.stages.at(1).known());
    }
  }
}

TEST(UnwatchedByControl, OtherLaunchesAreNotTimed) {
  WatchedRequests recorded(100);
  recorded.record();
  WatchedRequests control(7'000);
  control.note_other_work();
  const Unwatched unwatched = recorded.find(&control);
  EXPECT_EQ(unwatched.stages.at(0).why_not, NotUnwatched::launches_differ);
  EXPECT_EQ(unwatched.stages.at(1).why_not, NotUnwatched::launches_differ);
}

TEST(UnwatchedByControl, AThirdOfThePassesIsNotEnough) {
  WatchedRequests recorded(100);
  recorded.record();
  WatchedRequests control(7'000);
  control.note_request(20'000, 900, {180, 180, 180});
  EXPECT_EQ(recorded.find(&control).stages.at(1).why_not, NotUnwatched::launches_differ);
}

TEST(UnwatchedByControl, WithoutAControlRunThereIsNoOtherTime) {
  WatchedRequests recorded(100);
  recorded.record();
  const Unwatched unwatched = recorded.find(nullptr);
  EXPECT_EQ(unwatched.stages.at(0).why_not, NotUnwatched::no_other_time);
  EXPECT_EQ(unwatched.stages.at(1).why_not, NotUnwatched::no_other_time);
}

TEST(UnwatchedByControl, TheWorkloadsClockComesFirstWhereItFits) {
  WatchedRequests recorded(100);
  recorded.record();
  recorded.t.workload_time("prefill", 0.00096);
  recorded.t.workload_time("decode", 0.01);  // for other work
  WatchedRequests control(7'000);
  control.note_request(10'000, 5000, {900, 900, 900});
  control.note_request(20'000, 900, {180, 180, 180});
  control.note_request(30'000, 940, {190, 190, 190});
  const Unwatched unwatched = recorded.find(&control);
  EXPECT_EQ(unwatched.stages.at(0).source, UnwatchedSource::workload_clock);
  EXPECT_DOUBLE_EQ(unwatched.stages.at(0).wall, 960);
  expect_whole_stage(unwatched.stages.at(1));
  EXPECT_EQ(unwatched.stages.at(1).source, UnwatchedSource::control_launches);
  EXPECT_EQ(unwatched.stages.at(1).wall, 555);
}

// The same requests of a program that calls the driver directly, not the runtime: only the traced
// calls show its launches. In each prefill, only the host works before the first launch.
class TracedRequests {
 public:
  using Preparations = std::array<Nanoseconds, WatchedRequests::kRequests>;

  void record(const Preparations& prepared) {
    const uint32_t prefill = t.stage("prefill");
    const uint32_t decode = t.stage("decode");
    for (size_t request = 0; request < prepared.size(); ++request) {
      const Nanoseconds base = 10'000 * (static_cast<Nanoseconds>(request) + 1);
      t.instance(prefill, base, base + 1000).warmup = request == 0;
      for (int i = 0; i < 8; ++i) {
        const Nanoseconds called = base + prepared[request] + 2 * i;
        t.kernel(kNames.at(static_cast<size_t>(i % 3)), base + 200 + 100 * i, base + 300 + 100 * i,
                 t.call("cuLaunchKernel", called, called + 1));
      }
      t.call("cuStreamSynchronize", base + 200, base + 1000);
      t.instance(decode, base + 1000, base + 1600).warmup = request == 0;
      for (int i = 0; i < 3; ++i) {
        const Nanoseconds start = base + 1000 + 200 * i;
        t.step(start, start + 200);
        t.replay(start + 50, start + 200, t.call("cuGraphLaunch", start, start + 5));
        t.call("cuMemcpyDtoH_v2", start + 10, start + 200);
      }
    }
  }
  Unwatched find(WatchedRequests& control) {
    const Budgets budgets = t.budgets();
    return find_unwatched(t.trace(), t.stages(), budgets, &control.t.freeze(), false);
  }

  TestTrace t;

 private:
  static constexpr std::array<std::string_view, 3> kNames = {"gemm", "mul", "add"};
};

// 800 and 840 from the first launch to the end of the wait: mean 820, plus 100 before (80 and 120).
// The time before the warm-up's first launch does not count.
TEST(UnwatchedByDriver, AddsWhatPrecedesTheFirstLaunch) {
  TracedRequests recorded;
  recorded.record({150, 80, 120});
  WatchedRequests control(7'000);
  control.t.noted_by_driver();
  control.note_request(10'000, 5000, {900, 900, 900});  // warms up
  control.note_request(20'000, 800, {180, 180, 180});
  control.note_request(30'000, 840, {190, 190, 190});
  expect_times_by_instance(recorded.find(control));
}

// Stages that start with their GPU work: their launches come before it.
TEST(UnwatchedByDriver, ALaunchBeforeTheStageIsNoPreparation) {
  TracedRequests recorded;
  recorded.record({-50, -50, -50});
  WatchedRequests control(7'000);
  control.t.noted_by_driver();
  control.note_request(10'000, 5000, {900, 900, 900});
  control.note_request(20'000, 900, {180, 180, 180});
  control.note_request(30'000, 940, {190, 190, 190});
  expect_times_by_instance(recorded.find(control));
}

TEST(UnwatchedByDriver, OtherLaunchesAreNotTimed) {
  TracedRequests recorded;
  recorded.record({0, 0, 0});
  WatchedRequests control(7'000);
  control.t.noted_by_driver();
  control.note_other_work();
  const Unwatched unwatched = recorded.find(control);
  for (const StageUnwatched& stage : unwatched.stages) {
    EXPECT_EQ(stage.why_not, NotUnwatched::launches_differ);
    EXPECT_EQ(stage.wall, 0);
  }
}

// Only the runtime's launches were intercepted, which differ from the traced ones.
TEST(UnwatchedByDriver, LaunchesOfTheRuntimeAloneAreNotComparedWithTracedOnes) {
  TracedRequests recorded;
  recorded.record({0, 0, 0});
  WatchedRequests control(7'000);
  control.note_request(10'000, 5000, {900, 900, 900});
  control.note_request(20'000, 900, {180, 180, 180});
  control.note_request(30'000, 940, {190, 190, 190});
  const Unwatched unwatched = recorded.find(control);
  EXPECT_EQ(unwatched.stages.at(0).why_not, NotUnwatched::no_other_time);
  EXPECT_EQ(unwatched.stages.at(1).why_not, NotUnwatched::no_other_time);
}

// Each instance captures six kernels and launches the graph: 40 before the first one, 800 busy.
// Untraced, 860 from the first captured launch on.
TEST(UnwatchedByDriver, TimesPassesFromTheLaunchesCapturedIntoThem) {
  TestTrace recorded;
  const uint32_t prefill = recorded.stage("prefill");
  TestTrace control;
  control.noted_by_driver();
  for (int request = 0; request < 3; ++request) {
    const Nanoseconds base = 10'000 * (request + 1);
    recorded.instance(prefill, base, base + 1000).warmup = request == 0;
    for (int i = 0; i < 6; ++i) {
      recorded.call("cuLaunchKernel", base + 40 + 10 * i, base + 45 + 10 * i);
      control.noted(CallKind::kernel, static_cast<uint64_t>(i % 2), base + 10 * i, base + 10 * i);
    }
    recorded.replay(base + 200, base + 1000,
                    recorded.call("cuGraphLaunch", base + 100, base + 105));
    recorded.call("cuStreamSynchronize", base + 110, base + 1000);
    control.noted(CallKind::graph, 99, base + 60, base + 60);
    control.noted(CallKind::wait, 0, base + 70, base + 860);
  }
  const Budgets budgets = recorded.budgets();
  const StageUnwatched stage =
      find_unwatched(recorded.trace(), recorded.stages(), budgets, &control.freeze(), false)
          .stages.at(0);
  expect_whole_stage(stage);
  EXPECT_EQ(stage.wall, 900);
  EXPECT_EQ(stage.added, 100);
  EXPECT_EQ(stage.idle, 100);
  EXPECT_EQ(stage.passes, 2U);
}

// Passes of four kernels are too short to search for: only identical launches show them. The
// program starts with three captured launches, whose kernels are unknown.
class ShortPasses {
 public:
  static constexpr int kPasses = 20;

  ShortPasses() {
    control_.noted_by_driver();
    const uint32_t prefill = recorded_.stage("prefill");
    recorded_.outside();
    for (int i = 0; i < 3; ++i) {
      recorded_.call("cuLaunchKernel", 10 * i, 10 * i + 5);
      note(CallKind::kernel, 1, 10 * i);
    }
    for (int pass = 0; pass < kPasses; ++pass) {
      const Nanoseconds base = 1000 * (pass + 1);
      recorded_.instance(prefill, base, base + 500);
      for (int i = 0; i < 4; ++i) {
        recorded_.kernel(kNames.at(static_cast<size_t>(i)), base + 100 * (i + 1),
                         base + 100 * (i + 2),
                         recorded_.call("cuLaunchKernel", base + 2 * i, base + 2 * i + 1));
      }
      recorded_.call("cuStreamSynchronize", base + 10, base + 500);
      for (int i = 0; i < 4; ++i) note(CallKind::kernel, 10 + static_cast<uint64_t>(i), base + i);
      control_.noted(CallKind::wait, 0, base + 10, base + 450);
    }
  }
  // `launch`: number in the control run, counted over all passes.
  void change(int launch, CallKind kind, uint64_t function) {
    const auto row = static_cast<size_t>(launch + 3);
    changes_.push_back({row, kind, function});
  }
  void launch_once_more() { note(CallKind::kernel, 1, 1000 * (kPasses + 2)); }

  StageUnwatched find() {
    const Budgets budgets = recorded_.budgets();
    trace::Trace control = control_.freeze();
    std::vector<size_t> launches;
    for (size_t i = 0; i < control.host_calls.size(); ++i) {
      if (control.host_calls.kind[i] != CallKind::wait) launches.push_back(i);
    }
    for (const Change& change : changes_) {
      control.host_calls.kind[launches[change.launch]] = change.kind;
      control.host_calls.handle[launches[change.launch]] = change.function;
    }
    return find_unwatched(recorded_.trace(), recorded_.stages(), budgets, &control, false)
        .stages.at(0);
  }

 private:
  struct Change {
    size_t launch = 0;
    CallKind kind = CallKind::kernel;
    uint64_t function = 0;
  };
  static constexpr std::array<std::string_view, 4> kNames = {"gemm", "mul", "add", "norm"};

  void note(CallKind kind, uint64_t function, Nanoseconds start) {
    control_.noted(kind, function, start, start);
  }

  TestTrace recorded_;
  TestTrace control_;
  std::vector<Change> changes_;
};

// 500 each traced, 450 untraced.
TEST(UnwatchedByDriver, TheSameLaunchesNeedNoSearch) {
  const StageUnwatched stage = ShortPasses().find();
  expect_whole_stage(stage);
  EXPECT_EQ(stage.source, UnwatchedSource::control_launches);
  EXPECT_EQ(stage.wall, 450);
  EXPECT_EQ(stage.added, 50);
  EXPECT_EQ(stage.instances, 20U);
}

TEST(UnwatchedByDriver, AnotherKernelIsAnotherProgram) {
  ShortPasses passes;
  passes.change(60, CallKind::kernel, 13);  // the previous launch's function
  EXPECT_EQ(passes.find().why_not, NotUnwatched::launches_differ);
}

// Up to 48 launches after a captured one, it is unknown which kernels are equal. A changed launch
// stays visible until both functions are launched again, four launches later.
TEST(UnwatchedByDriver, KernelsBehindACapturedOneAreNotCompared) {
  ShortPasses unseen;
  unseen.change(43, CallKind::kernel, 12);
  EXPECT_TRUE(unseen.find().known());
  ShortPasses seen;
  seen.change(48, CallKind::kernel, 13);
  EXPECT_EQ(seen.find().why_not, NotUnwatched::launches_differ);
}

TEST(UnwatchedByDriver, AGraphInsteadOfAKernelIsAnotherProgram) {
  ShortPasses passes;
  passes.change(4, CallKind::graph, 99);
  EXPECT_EQ(passes.find().why_not, NotUnwatched::launches_differ);
}

TEST(UnwatchedByDriver, OneLaunchMoreIsAnotherProgram) {
  ShortPasses passes;
  passes.launch_once_more();
  EXPECT_EQ(passes.find().why_not, NotUnwatched::launches_differ);
}

// A decode of 14 steps of one CUDA graph: 4 traced ones of 200 with 150 busy, and 10 of 160 after
// CUPTI was detached.
class Windows {
 public:
  static constexpr Nanoseconds kDetached = 800;

  Windows() {
    t.collection(0, true, trace::CollectionReason::program_start);
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
  StageUnwatched find() {
    const Budgets budgets = t.budgets();
    return find_unwatched(t.trace(), t.stages(), budgets, nullptr, false).stages.at(0);
  }

  TestTrace t;
};

// Steps of the same process that are up to twice as slow count as the same steps; slower ones do
// not.
TEST(UnwatchedBetweenWindows, MayBeTwiceAsLongAsTraced) {
  for (const Nanoseconds time : {390, 410}) {
    Windows windows;
    for (int i = 0; i < 10; ++i) windows.note_step(1000 + time * i, time);
    const StageUnwatched decode = windows.find();
    EXPECT_EQ(decode.known(), time < 400);
    EXPECT_EQ(decode.why_not == NotUnwatched::does_not_fit, time > 400);
  }
}

// 14 steps in the run with windows; there they are too slow to be the traced ones.
TEST(UnwatchedByControl, PassesThatAreSeldomThereAreOthers) {
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
    const StageUnwatched decode =
        find_unwatched(windows.t.trace(), windows.t.stages(), budgets, &control.freeze(), false)
            .stages.at(0);
    EXPECT_EQ(decode.known(), steps == 12) << steps;
  }
}

// The first two passes still recover from tracing and the last may be cut, so 7 are timed. 14 steps
// of 160 make 2240, with 150 busy each 2100. Traced, they would have taken 2800.
TEST(UnwatchedBetweenWindows, TimesWhatRanWhileNothingWasTraced) {
  Windows windows;
  for (int i = 0; i < 10; ++i) windows.note_step(1000 + 160 * i, i < 2 ? 155 : 160);
  const StageUnwatched decode = windows.find();
  expect_whole_stage(decode);
  EXPECT_EQ(decode.source, UnwatchedSource::between_windows);
  EXPECT_EQ(decode.passes, 7U);
  EXPECT_EQ(decode.instances, 0U);
  EXPECT_EQ(decode.per_step, 160);
  EXPECT_EQ(decode.wall, 2240);
  EXPECT_EQ(decode.added, 560);
  EXPECT_EQ(decode.idle, 140);
  EXPECT_DOUBLE_EQ(decode.idle_scale, 0.2);
  EXPECT_EQ(unwatched_parts(decode).at("hidden CUDA graphs"), 2100);
}

TEST(UnwatchedBetweenWindows, AFewPassesAreNotEnough) {
  Windows windows;
  for (int i = 0; i < 3; ++i) windows.note_step(1000 + 160 * i, 160);
  EXPECT_EQ(windows.find().why_not, NotUnwatched::no_other_time);
}

}  // namespace
}  // namespace llmprof::analysis
