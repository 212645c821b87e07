#include "analysis/untraced/launch_passes.h"

#include <gtest/gtest.h>

#include "testing/staged_trace.h"

namespace llmprof::analysis {
namespace {

using Times = std::vector<Nanoseconds>;
using Flags = std::vector<bool>;

// Recorded out of order: a kernel, a wait, a captured kernel, a graph with ID 1, another kernel
// with the first one's name, a copy that waits, and calls that neither launch nor wait.
TEST(TracedSequence, HoldsLaunchesAndWaitsByTheirStart) {
  TestTrace t;
  t.instance(t.stage("prefill"), 0, 1000);
  const uint32_t graph = t.call("cuGraphLaunch", 400, 410);
  const uint32_t first = t.call("cuLaunchKernel", 100, 110);
  t.call("cuMemcpyHtoDAsync_v2", 120, 130);
  t.call("cuStreamSynchronize", 200, 290);
  t.call("cuLaunchKernelEx", 300, 310);  // captured
  t.call("cuMemAlloc_v2", 350, 360);
  const uint32_t again = t.call("cuLaunchKernel", 500, 510);
  t.call("cuMemcpyDtoH_v2", 600, 690);
  t.kernel("gemm", 150, 180, first);
  t.kernel("gemm", 550, 580, again);
  t.replay(450, 480, graph);
  const LaunchSequence sequence = traced_sequences(t.freeze()).front();
  EXPECT_EQ(sequence.start, (Times{100, 300, 400, 500}));
  EXPECT_EQ(sequence.graph, (Flags{false, false, true, false}));
  EXPECT_EQ(sequence.without_work, (Flags{false, true, false, false}));
  EXPECT_EQ(sequence.handle[0], sequence.handle[3]);
  EXPECT_NE(sequence.handle[0], sequence.handle[1]);
  ASSERT_EQ(sequence.waits.size(), 2U);
  EXPECT_EQ(sequence.waits[0].start, 200);
  EXPECT_EQ(sequence.waits[0].end, 290);
  EXPECT_EQ(sequence.waits[1].start, 600);
  EXPECT_EQ(sequence.waits[1].end, 690);
}

TEST(TracedSequence, OfWhatWasCapturedEachLaunchIsLikeNoOther) {
  TestTrace t;
  for (int i = 0; i < 3; ++i) t.call("cuLaunchKernel", 100 * i, 100 * i + 10);
  const LaunchSequence sequence = traced_sequences(t.freeze()).front();
  EXPECT_EQ(sequence.without_work, (Flags{true, true, true}));
  EXPECT_EQ(launch_tokens(sequence), (std::vector<uint32_t>{0, 0, 0}));
}

TEST(TracedSequence, ComesFromTheThreadThatLaunchesTheMostFirst) {
  TestTrace t;
  t.call("cuLaunchKernel", 100, 110);
  t.call("cuStreamSynchronize", 120, 130);
  t.call("cuLaunchKernel", 200, 210, true);
  t.call("cuLaunchKernel", 300, 310, true);
  const std::vector<LaunchSequence> sequences = traced_sequences(t.freeze());
  ASSERT_EQ(sequences.size(), 2U);
  EXPECT_EQ(sequences[0].start, (Times{200, 300}));
  EXPECT_TRUE(sequences[0].waits.empty());
  EXPECT_EQ(sequences[1].start, (Times{100}));
  EXPECT_EQ(sequences[1].waits.size(), 1U);
}

TEST(TracedSequence, IsEmptyWhereNothingWasLaunched) {
  TestTrace t;
  t.call("cuStreamSynchronize", 120, 130);
  EXPECT_TRUE(traced_sequences(t.freeze()).empty());
}

// If only some launches are traced, kernels of the same name have the same distances as functions
// of the same address in the driver's reports.
TEST(TracedSequence, HasTheTokensOfTheDriversReports) {
  TestTrace traced;
  TestTrace reported;
  reported.noted_by_driver();
  traced.instance(traced.stage("prefill"), 0, 1000);
  const std::vector<std::string_view> names = {"gemm", "mul", "gemm", "gemm", "add"};
  for (size_t i = 0; i < names.size(); ++i) {
    const auto time = static_cast<Nanoseconds>(10 * i);
    traced.kernel(names[i], time + 5, time + 9, traced.call("cuLaunchKernel", time, time + 2));
    reported.noted(trace::HostCallTable::Kind::kernel, std::hash<std::string_view>()(names[i]),
                   2 * time, 2 * time);
  }
  const std::vector<uint32_t> expected = {0, 0, 2, 1, 0};
  EXPECT_EQ(launch_tokens(traced_sequences(traced.freeze()).front()), expected);
  EXPECT_EQ(launch_tokens(noted_sequences(reported.freeze()).front()), expected);
}

}  // namespace
}  // namespace llmprof::analysis
