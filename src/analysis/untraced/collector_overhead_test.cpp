#include "analysis/untraced/collector_overhead.h"

#include <gtest/gtest.h>

#include <cmath>

#include "analysis/stages/measure_stages.h"
#include "testing/reasons.h"
#include "testing/staged_trace.h"

namespace llmprof::analysis {
namespace {

using testing::Kinds;
using testing::kinds_of;
using testing::number_of;

double in_ns(const std::optional<profile::Milliseconds>& time) {
  return time->value * kNanosecondsPerMillisecond;
}

// A decode with one kernel per step, 10 ns apart: traced steps have the given durations, untraced
// ones are a gap in the timeline.
class Alternation {
 public:
  Alternation() {
    t_.instance(t_.stage("decode"), 0, 0);
    t_.tracing_changes(0, true, trace::TracingReason::program_start, 0);
  }

  Alternation& traced(std::initializer_list<Nanoseconds> steps) {
    if (untraced_ > 0) t_.tracing_changes(at_, true, reason_, steps_);
    for (const Nanoseconds length : steps) {
      Step& step = t_.step(at_, at_ + length);
      step.untraced_before = untraced_;
      untraced_ = 0;
      if (graphs_) {
        t_.replay(at_, at_ + length, 0);
      } else {
        t_.kernel("gemm", at_, at_ + length);
      }
      at_ += length + kGap;
      ++steps_;
    }
    return *this;
  }
  Alternation& untraced(uint32_t steps, Nanoseconds length) {
    t_.tracing_changes(at_, false, reason_, steps_);
    return still_untraced(steps, length);
  }
  Alternation& still_untraced(uint32_t steps, Nanoseconds length) {
    untraced_ += steps;
    steps_ += steps;
    t_.stages().instances.back().untraced_steps += steps;
    at_ += Nanoseconds{steps} * (length + kGap);
    return *this;
  }
  Alternation& with_graphs() {
    graphs_ = true;
    return *this;
  }
  Alternation& because(trace::TracingReason reason) {
    reason_ = reason;
    return *this;
  }
  std::optional<profile::CollectorOverhead> measured() {
    t_.tracing_changes(at_, false, trace::TracingReason::process_end, steps_);
    const trace::Trace trace = t_.freeze();
    meter_work(trace, t_.stages());
    return collector_overhead(trace, t_.stages());
  }
  TestTrace& trace() { return t_; }

 private:
  static constexpr Nanoseconds kGap = 10;
  TestTrace t_;
  Nanoseconds at_ = 0;
  uint32_t untraced_ = 0;
  uint64_t steps_ = 0;
  trace::TracingReason reason_ = trace::TracingReason::duty;
  bool graphs_ = false;
};

// Untraced steps of 90 + 10, traced ones of 97, 98, 99 + 10: by hand, means 108 and 100, deviations
// 1 and 0, so the standard error is 1 / sqrt(3) with 2 degrees of freedom (t = 4.303).
TEST(CollectorOverhead, IsTheDifferenceOfTracedAndUntracedSteps) {
  Alternation run;
  run.traced({500, 500}).untraced(6, 90);  // the first window may have started before the decode
  run.traced({97, 97}).untraced(6, 90).traced({98, 98}).untraced(6, 90).traced({99, 99});
  run.untraced(6, 90);
  const auto overhead = run.measured();
  ASSERT_TRUE(overhead && overhead->added_per_step);
  EXPECT_EQ(overhead->traced.windows, 3U);
  EXPECT_EQ(overhead->traced.steps, 6U);
  EXPECT_EQ(overhead->untraced.windows, 3U);
  EXPECT_EQ(overhead->untraced.steps, 18U);
  EXPECT_DOUBLE_EQ(in_ns(overhead->gap), 10);
  EXPECT_NEAR(in_ns(overhead->traced.mean_per_step), 108, 1e-9);
  EXPECT_NEAR(in_ns(overhead->untraced.mean_per_step), 100, 1e-9);
  EXPECT_NEAR(in_ns(overhead->added_per_step), 8, 1e-9);
  EXPECT_NEAR(in_ns(overhead->low_per_step), 8 - 4.303 / std::sqrt(3.0), 1e-9);
  EXPECT_NEAR(in_ns(overhead->high_per_step), 8 + 4.303 / std::sqrt(3.0), 1e-9);
  EXPECT_NEAR(overhead->share_of_untraced_step->value, 0.08, 1e-12);
  // 8 of 32 steps are traced.
  EXPECT_EQ(overhead->steps_traced, 8U);
  EXPECT_EQ(overhead->steps_all, 32U);
  EXPECT_NEAR(overhead->share_of_decode->value, 0.02, 1e-12);
  EXPECT_EQ(overhead->duty_traced, 2U);
  EXPECT_EQ(overhead->duty_period, 8U);
  EXPECT_EQ(overhead->switches, 8U);  // on at program start, then off four times and on three times
  EXPECT_TRUE(overhead->why_not_reasons.empty());
}

// The first untraced step after each window takes as long as a traced one, 98 + 10, which is 8 more
// than the other five's 90 + 10: windows of 608.
TEST(CollectorOverhead, BehindGraphsOneStepMoreIsTraced) {
  Alternation run;
  run.with_graphs().traced({98, 98}).untraced(1, 98).still_untraced(5, 90);
  for (int window = 0; window < 3; ++window) {
    run.traced({98, 98}).untraced(1, 98).still_untraced(5, 90);
  }
  const auto overhead = run.measured();
  ASSERT_TRUE(overhead && overhead->added_per_step);
  EXPECT_NEAR(in_ns(overhead->traced.mean_per_step), 108, 1e-9);
  EXPECT_NEAR(in_ns(overhead->untraced.mean_per_step), 100, 1e-9);
  EXPECT_EQ(overhead->untraced.steps, 15U);
  EXPECT_NEAR(overhead->share_of_untraced_step->value, 0.08, 1e-12);
  // 8 traced steps and 4 after them, of 32.
  EXPECT_EQ(overhead->steps_traced, 8U);
  EXPECT_EQ(overhead->steps_cupti_on, 4U);
  EXPECT_NEAR(overhead->share_of_decode->value, 0.08 * 12 / 32, 1e-12);
}

TEST(CollectorOverhead, NeedsThreeWindowsOfEachKind) {
  Alternation run;
  run.traced({97}).untraced(6, 90).traced({98}).untraced(6, 90).traced({99}).untraced(6, 90);
  const auto overhead = run.measured();
  ASSERT_TRUE(overhead);
  EXPECT_FALSE(overhead->added_per_step);
  EXPECT_EQ(overhead->traced.windows, 2U);
  EXPECT_EQ(kinds_of(overhead->why_not_reasons), Kinds{"few_tracing_windows"});
  EXPECT_EQ(number_of(overhead->why_not_reasons, "windows_needed"), 3);
  EXPECT_EQ(number_of(overhead->why_not_reasons, "traced_windows"), 2);
  EXPECT_EQ(number_of(overhead->why_not_reasons, "untraced_windows"), 2);
}

TEST(CollectorOverhead, WarmUpsDoNotCount) {
  Alternation run;
  run.traced({97}).untraced(6, 90).traced({97}).untraced(6, 90).traced({98}).untraced(6, 90);
  run.traced({99}).untraced(6, 90);
  run.trace().stages().instances.back().warmup = true;
  EXPECT_EQ(run.measured()->traced.windows, 0U);
}

TEST(CollectorOverhead, WithoutADutyCycleThereIsNothingToSay) {
  Alternation run;
  run.because(trace::TracingReason::command);
  run.traced({97}).untraced(6, 90).traced({97}).untraced(6, 90);
  EXPECT_FALSE(run.measured());
}

TEST(CollectorOverhead, OfSeveralProcessesNothingIsSaid) {
  Alternation run;
  run.traced({97}).untraced(6, 90).traced({97}).untraced(6, 90);
  trace::Trace trace = run.trace().freeze();
  trace.tracing_changes.process.back() = trace::ProcessId(1);
  EXPECT_FALSE(collector_overhead(trace, run.trace().stages()));
}

}  // namespace
}  // namespace llmprof::analysis
