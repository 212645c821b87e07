#include "analysis/untraced/launch_passes.h"

#include <gtest/gtest.h>

#include "testing/staged_trace.h"

namespace llmprof::analysis {
namespace {

using CallKind = trace::HostCallTable::Kind;

// Tracing from 1000 to 5000; only the launch interceptor noted launches before and after.
class TracedWindow {
 public:
  static constexpr Nanoseconds kFrom = 1000;
  static constexpr Nanoseconds kUntil = 5000;

  TracedWindow() : prefill_(t_.stage("prefill")) {
    t_.tracing_changes(kFrom, true);
    t_.detached(kUntil, 0);
    t_.outside();
    launch(kFrom - 100);
  }

  void launch(Nanoseconds time) {
    t_.noted(CallKind::kernel, 1, time, time);
    const bool traced = time >= kFrom && time < kUntil;
    if (traced) t_.launched("gemm", time + 1, time + 5, time + 8);
  }
  void launches(Nanoseconds from, int count) {
    for (int i = 0; i < count; ++i) launch(from + 10 * i);
  }
  // Has ten launches.
  void pass(Nanoseconds from, uint32_t layers = 0) {
    t_.instance(prefill_, from, from + 110);
    if (layers > 0) t_.step(from, from + 110).layers = layers;
    launches(from, 10);
    t_.outside();
  }
  void wait(Nanoseconds from) { t_.noted(CallKind::wait, 0, from, from + 5); }

  // Starts of the complete passes.
  std::vector<Nanoseconds> whole() {
    launch(kUntil + 100);
    const trace::Trace& trace = t_.freeze();
    const LaunchSequence sequence = noted_sequences(trace).front();
    std::vector<Nanoseconds> starts;
    for (const LaunchPass& pass : recorded_passes(trace, t_.stages(), sequence)) {
      EXPECT_EQ(pass.end - pass.first, 10U);
      starts.push_back(sequence.start[pass.first]);
    }
    return starts;
  }

 private:
  TestTrace t_;
  uint32_t prefill_;
};

using Starts = std::vector<Nanoseconds>;

TEST(RecordedPasses, AtTheBeginningOfAWindowMayHaveBegunBeforeIt) {
  TracedWindow window;
  window.pass(1000);
  window.pass(1200);
  window.pass(1400);
  window.wait(1600);
  EXPECT_EQ(window.whole(), (Starts{1200, 1400}));
}

// This pass has all its layers, so more than a quarter of a pass before it belongs to another.
TEST(RecordedPasses, BeginAndEndBesideThePartsOfOthers) {
  TracedWindow window;
  window.launches(1000, 4);
  window.pass(1200, 6);
  window.launches(1400, 4);
  EXPECT_EQ(window.whole(), (Starts{1200}));
}

TEST(RecordedPasses, MayLackWhatIsBesideThem) {
  TracedWindow window;
  window.launches(1000, 2);
  window.pass(1200, 6);
  window.launches(1400, 4);
  EXPECT_EQ(window.whole(), Starts{});
}

TEST(RecordedPasses, BeginBehindAWait) {
  TracedWindow window;
  window.wait(950);
  window.pass(1000);
  window.wait(1600);
  EXPECT_EQ(window.whole(), (Starts{1000}));
}

// A few launches may be between the wait and the pass. More may be the start of the pass: its
// layers were found from the second one on.
TEST(RecordedPasses, AFewLaunchesMayLieBetweenTheWaitAndThePass) {
  for (const int launches : {16, 17}) {
    TracedWindow window;
    window.wait(950);
    window.launches(1000, launches);
    window.pass(1200);
    window.pass(1400);
    window.wait(1600);
    EXPECT_EQ(window.whole(), launches == 16 ? (Starts{1200, 1400}) : (Starts{1400})) << launches;
  }
}

TEST(RecordedPasses, AtTheEndOfAWindowMayEndBehindIt) {
  TracedWindow window;
  window.wait(950);
  window.pass(1000);
  window.pass(4800);
  EXPECT_EQ(window.whole(), (Starts{1000}));
}

TEST(RecordedPasses, EndBeforeAWait) {
  TracedWindow window;
  window.wait(950);
  window.pass(1000);
  window.pass(4800);
  window.wait(4900);
  EXPECT_EQ(window.whole(), (Starts{1000, 4800}));
}

// Driver callbacks: captured launches put no work on the GPU.
class TracedCalls {
 public:
  TracedCalls() : prefill_(t_.stage("prefill")) {}

  void capture(int launches) {
    for (int i = 0; i < launches; ++i, now_ += 10) t_.call("cuLaunchKernel", now_, now_ + 5);
  }
  void other_kernel() {
    t_.launched("mul", now_, now_ + 3, now_ + 5);
    now_ += 10;
  }
  // The stage starts `before` ns before its graph is launched.
  void pass(Nanoseconds before = 0) {
    t_.instance(prefill_, now_ - before, now_ + 100);
    t_.replay(now_ + 10, now_ + 100, t_.call("cuGraphLaunch", now_, now_ + 2));
    t_.outside();
    now_ += 100;
  }
  std::vector<size_t> leads() {
    const trace::Trace& trace = t_.freeze();
    std::vector<size_t> leads;
    for (const LaunchPass& pass :
         recorded_passes(trace, t_.stages(), traced_sequences(trace).front())) {
      EXPECT_EQ(pass.end - pass.first, 1U);
      leads.push_back(pass.lead);
    }
    return leads;
  }

 private:
  TestTrace t_;
  uint32_t prefill_;
  Nanoseconds now_ = 1000;
};

TEST(RecordedPasses, BeginWithTheLaunchesCapturedRightBeforeThem) {
  TracedCalls calls;
  calls.capture(4);
  calls.pass(40);
  calls.capture(2);
  calls.pass(25);
  calls.pass();
  EXPECT_EQ(calls.leads(), (std::vector<size_t>{4, 2, 0}));
}

TEST(RecordedPasses, DoNotBeginBeforeWorkOfNoPass) {
  TracedCalls calls;
  calls.capture(4);
  calls.other_kernel();
  calls.capture(1);
  calls.pass(100);
  EXPECT_EQ(calls.leads(), (std::vector<size_t>{1}));
}

// An engine captures its graphs when it starts.
TEST(RecordedPasses, DoNotBeginBeforeTheirStage) {
  TracedCalls calls;
  calls.capture(100);
  calls.pass();
  calls.capture(4);
  calls.pass(20);
  EXPECT_EQ(calls.leads(), (std::vector<size_t>{0, 2}));
}

// The launch interceptor cannot see which launches were captured.
TEST(RecordedPasses, AsTheLightWatchSeesThemHaveNoLead) {
  TestTrace t;
  const uint32_t prefill = t.stage("prefill");
  t.call("cudaLaunchKernel_v7000", 1000, 1002);
  t.noted(CallKind::kernel, 1, 999, 999);
  t.instance(prefill, 1010, 1100);
  t.replay(1020, 1100, t.call("cudaGraphLaunch_v10000", 1010, 1012));
  t.noted(CallKind::graph, 2, 1009, 1009);
  const trace::Trace& trace = t.freeze();
  const auto passes = recorded_passes(trace, t.stages(), noted_sequences(trace).front());
  ASSERT_EQ(passes.size(), 1U);
  EXPECT_EQ(passes.front().first, 1U);
  EXPECT_EQ(passes.front().lead, 0U);
}

}  // namespace
}  // namespace llmprof::analysis
