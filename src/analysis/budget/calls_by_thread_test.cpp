#include "analysis/budget/budget_basis.h"

#include <gtest/gtest.h>

#include "trace/builder.h"

namespace llmprof::analysis {
namespace {

// Calls [i*10, i*10+5): `held` inside one long call, and as many after it.
trace::Trace nested_calls(int held) {
  trace::TraceBuilder builder;
  builder.begin_capture({});
  const trace::ThreadId thread = builder.thread(builder.process(1, 1), 1, 1);
  trace::LaunchTable& launches = builder.trace().launches;
  const auto call = [&](Nanoseconds start, Nanoseconds end) {
    launches.start.push_back(start);
    launches.end.push_back(end);
    launches.thread.push_back(thread);
    launches.api.push_back(builder.string("call"));
    launches.correlation.push_back(0);
  };
  call(0, 10 * held + 1);
  for (int i = 1; i <= 2 * held; ++i) call(10 * i, 10 * i + 5);
  return std::move(builder).freeze();
}

TEST(CallsByThread, FindsTheCallAroundHoweverManyItHolds) {
  for (const int held : {3, 254, 255, 256, 257, 510, 511, 1000}) {
    const trace::Trace trace = nested_calls(held);
    const CallsByThread calls(trace);
    const trace::ThreadId thread = trace.launches.thread[0];
    std::vector<Nanoseconds> seen;
    size_t place = 0;
    calls.each(trace, thread, 10 * held + 1, 10 * held + 2, place,
               [&](uint32_t row) { seen.push_back(trace.launches.start[row]); });
    ASSERT_FALSE(seen.empty());
    EXPECT_EQ(seen.front(), 0) << held << " calls held";

    std::vector<Nanoseconds> outermost;
    calls.each_outermost(trace, thread, 10 * held + 1, 10 * held + 21,
                         [&](uint32_t row) { outermost.push_back(trace.launches.start[row]); });
    EXPECT_EQ(outermost, (std::vector<Nanoseconds>{0, 10 * held + 10, 10 * held + 20}))
        << held << " calls held";
  }
}

}  // namespace
}  // namespace llmprof::analysis
