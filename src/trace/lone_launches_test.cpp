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
      return std::string(to_string(item.severity)) + ": " + item.message.substr(0, 30);
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

// The driver's call inside the runtime's has a number of its own and is the same launch.
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

// The calls that begin and end a capture are not recorded: launches are explained by the nodes of
// graphs, as far as there are enough.
TEST(LoneLaunches, MayBeNodesOfGraphs) {
  const auto replayed = [](int lone) {
    testing::HandMadeTrace made;
    made.kernel("gemm", 6, 10, 20);
    KernelTable& kernels = made.builder().trace().kernels;
    kernels.graph.assign(1, 7);
    kernels.graph_node.assign(1, 70);
    for (int i = 0; i < lone; ++i) {
      call(made, "cudaLaunchKernel", 100 + 10 * i, 105 + 10 * i, 900 + static_cast<uint32_t>(i));
    }
    return said(std::move(made));
  };
  EXPECT_EQ(replayed(1), "info: 1 of 2 launches have no work o");
  EXPECT_EQ(replayed(2), "warning: 2 of 3 kernel and graph launch");
}

}  // namespace
}  // namespace llmprof::trace
