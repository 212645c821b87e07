#include <gtest/gtest.h>

#include <array>

#include "testing/timed_requests.h"

namespace llmprof::analysis {
namespace {

// The same requests of a program that calls the driver directly, not the runtime: only the traced
// calls show its launches. In each prefill, only the host works before the first launch.
class TracedRequests {
 public:
  using Preparations = std::array<Nanoseconds, TimedRequests::kRequests>;

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
  UntracedStages find(TimedRequests& control) {
    const Budgets budgets = t.budgets();
    return find_untraced_times(t.trace(), t.stages(), budgets, &control.t.freeze(), false);
  }

  TestTrace t;

 private:
  static constexpr std::array<std::string_view, 3> kNames = {"gemm", "mul", "add"};
};

// 800 and 840 from the first launch to the end of the wait: mean 820, plus 100 before (80 and 120).
// The time before the warm-up's first launch does not count.
TEST(UntracedByDriver, AddsWhatPrecedesTheFirstLaunch) {
  TracedRequests recorded;
  recorded.record({150, 80, 120});
  TimedRequests control(7'000);
  control.t.noted_by_driver();
  control.note_requests(800, 840);
  expect_times_by_instance(recorded.find(control));
}

// Stages that start with their GPU work: their launches come before it.
TEST(UntracedByDriver, ALaunchBeforeTheStageIsNoPreparation) {
  TracedRequests recorded;
  recorded.record({-50, -50, -50});
  TimedRequests control(7'000);
  control.t.noted_by_driver();
  control.note_requests(900, 940);
  expect_times_by_instance(recorded.find(control));
}

TEST(UntracedByDriver, OtherLaunchesAreNotTimed) {
  TracedRequests recorded;
  recorded.record({0, 0, 0});
  TimedRequests control(7'000);
  control.t.noted_by_driver();
  control.note_other_work();
  const UntracedStages untraced = recorded.find(control);
  for (const StageUntraced& stage : untraced.stages) {
    EXPECT_EQ(stage.why_not, NoUntracedTime::launches_differ);
    EXPECT_EQ(stage.wall, 0);
  }
}

// Only the runtime's launches were intercepted, which differ from the traced ones.
TEST(UntracedByDriver, LaunchesOfTheRuntimeAloneAreNotComparedWithTracedOnes) {
  TracedRequests recorded;
  recorded.record({0, 0, 0});
  TimedRequests control(7'000);
  control.note_requests(900, 940);
  const UntracedStages untraced = recorded.find(control);
  EXPECT_EQ(untraced.stages.at(0).why_not, NoUntracedTime::no_other_time);
  EXPECT_EQ(untraced.stages.at(1).why_not, NoUntracedTime::no_other_time);
}

// Each instance captures six kernels and launches the graph: 40 before the first one, 800 busy.
// Untraced, 860 from the first captured launch on.
TEST(UntracedByDriver, TimesPassesFromTheLaunchesCapturedIntoThem) {
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
  const StageUntraced stage =
      find_untraced_times(recorded.trace(), recorded.stages(), budgets, &control.freeze(), false)
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

  StageUntraced find() {
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
    return find_untraced_times(recorded_.trace(), recorded_.stages(), budgets, &control, false)
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
TEST(UntracedByDriver, TheSameLaunchesNeedNoSearch) {
  const StageUntraced stage = ShortPasses().find();
  expect_whole_stage(stage);
  EXPECT_EQ(stage.source, UntracedSource::control_launches);
  EXPECT_EQ(stage.wall, 450);
  EXPECT_EQ(stage.added, 50);
  EXPECT_EQ(stage.instances, 20U);
}

TEST(UntracedByDriver, AnotherKernelIsAnotherProgram) {
  ShortPasses passes;
  passes.change(60, CallKind::kernel, 13);  // the previous launch's function
  EXPECT_EQ(passes.find().why_not, NoUntracedTime::launches_differ);
}

// Up to 48 launches after a captured one, it is unknown which kernels are equal. A changed launch
// stays visible until both functions are launched again, four launches later.
TEST(UntracedByDriver, KernelsBehindACapturedOneAreNotCompared) {
  ShortPasses unseen;
  unseen.change(43, CallKind::kernel, 12);
  EXPECT_TRUE(unseen.find().known());
  ShortPasses seen;
  seen.change(48, CallKind::kernel, 13);
  EXPECT_EQ(seen.find().why_not, NoUntracedTime::launches_differ);
}

TEST(UntracedByDriver, AGraphInsteadOfAKernelIsAnotherProgram) {
  ShortPasses passes;
  passes.change(4, CallKind::graph, 99);
  EXPECT_EQ(passes.find().why_not, NoUntracedTime::launches_differ);
}

TEST(UntracedByDriver, OneLaunchMoreIsAnotherProgram) {
  ShortPasses passes;
  passes.launch_once_more();
  EXPECT_EQ(passes.find().why_not, NoUntracedTime::launches_differ);
}

}  // namespace
}  // namespace llmprof::analysis
