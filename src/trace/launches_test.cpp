#include <gtest/gtest.h>

#include <algorithm>

#include "testing/hand_made_trace.h"

namespace llmprof::trace {
namespace {

// A call that puts nothing on the GPU.
void call(testing::HandMadeTrace& made, std::string_view api, Nanoseconds start, Nanoseconds end,
          uint32_t correlation) {
  LaunchTable& launches = made.builder().trace().launches;
  launches.start.push_back(start);
  launches.end.push_back(end);
  launches.thread.push_back(made.thread(1));
  launches.api.push_back(made.builder().string(api));
  launches.correlation.push_back(correlation);
}

std::string said(testing::HandMadeTrace made) {
  const Trace trace = std::move(made).freeze();
  for (const Diagnostic& item : trace.diagnostics.items()) {
    if (item.code == "launches_without_kernels") {
      return (item.severity == Severity::warning ? "warning: " : "other: ") +
             item.message.substr(0, 30);
    }
  }
  return "";
}

TEST(LoneLaunches, AreCounted) {
  testing::HandMadeTrace made;
  made.kernel("gemm", 0, 10, 20);
  call(made, "cudaLaunchKernel", 30, 32, 900);
  call(made, "cudaGraphLaunch", 40, 42, 901);
  call(made, "cudaMemcpyAsync", 50, 52, 902);  // launches no kernel
  EXPECT_EQ(said(std::move(made)), "warning: 2 of 3 kernel and graph launch");
}

TEST(LoneLaunches, AreNoneWhereWorkIsRecorded) {
  testing::HandMadeTrace made;
  made.kernel("gemm", 0, 10, 20);
  EXPECT_EQ(said(std::move(made)), "");
}

// A driver call inside a runtime call has its own correlation but is the same launch.
TEST(LoneLaunches, CountACallInsideACallOnce) {
  testing::HandMadeTrace made;
  call(made, "cudaLaunchKernel", 0, 10, 900);
  made.kernel("gemm", 2, 10, 20);
  EXPECT_EQ(said(std::move(made)), "");
}

TEST(LoneLaunches, IntoAGraphThatIsCapturedHaveNoWork) {
  testing::HandMadeTrace made;
  call(made, "cudaStreamBeginCapture_v10000", 0, 1, 900);
  call(made, "cudaLaunchKernel", 2, 3, 901);
  call(made, "cudaStreamEndCapture_v10000", 4, 5, 902);
  made.kernel("gemm", 6, 10, 20);
  EXPECT_EQ(said(std::move(made)), "");
}

// Our collector does not record the start of a graph capture: only the graph's own launch counts.
TEST(LoneLaunches, OfOurCollectorMayBeInACapturedGraph) {
  testing::HandMadeTrace made;
  made.builder().capture().tool = kCollectorTool;
  call(made, "cudaLaunchKernel", 2, 3, 901);
  made.kernel("gemm", 6, 10, 20);
  call(made, "cudaGraphLaunch", 40, 42, 902);
  EXPECT_EQ(said(std::move(made)), "warning: 1 of 2 kernel and graph launch");
}

}  // namespace
}  // namespace llmprof::trace
