#include "analysis/untraced/launch_passes.h"

#include <gtest/gtest.h>

#include "testing/staged_trace.h"

namespace llmprof::analysis {
namespace {

using Periods = std::vector<std::pair<Nanoseconds, Nanoseconds>>;

Periods periods_of(TestTrace& t) {
  const trace::Trace& trace = t.freeze();
  Periods periods;
  for (const TracingPeriods::Period& period : detached_periods(trace, trace.threads[0].process)) {
    periods.emplace_back(period.start, period.end);
  }
  return periods;
}

TEST(DetachedPeriods, AreWithoutWhatAttachingAndDetachingTook) {
  TestTrace t;
  t.tracing_changes(100, true);
  t.detached(300, 50);
  t.tracing_changes(500, true);
  t.detached(600, 10);
  EXPECT_EQ(periods_of(t), (Periods{{INT64_MIN, 100}, {300, 500}, {600, trace::kOpenEnd}}));
}

TEST(DetachedPeriods, EndWithTheProcess) {
  TestTrace t;
  t.tracing_changes(100, true);
  t.detached(300, 0);
  t.detached(700, 20, trace::TracingReason::process_end);
  EXPECT_EQ(periods_of(t), (Periods{{INT64_MIN, 100}, {300, 680}}));
}

TEST(DetachedPeriods, AreNotThoseInWhichTracingPaused) {
  TestTrace t;
  t.tracing_changes(100, true);
  t.tracing_changes(300, false);  // CUPTI stays attached
  t.tracing_changes(500, true);
  EXPECT_EQ(periods_of(t), (Periods{{INT64_MIN, 100}}));
}

TEST(DetachedPeriods, AreNoneWhereNothingWasTraced) {
  TestTrace t;
  t.detached(300, 0);
  EXPECT_TRUE(periods_of(t).empty());
  TestTrace without;
  EXPECT_TRUE(periods_of(without).empty());
}

}  // namespace
}  // namespace llmprof::analysis
