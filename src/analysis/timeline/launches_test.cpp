#include "analysis/timeline/timeline.h"

#include <gtest/gtest.h>

#include "testing/staged_trace.h"

namespace llmprof::analysis {
namespace {

// Calls at 0, 10, 20 and 100; work at 5-50, 50-60, 60-70 and 107-120. Queues: empty, empty (the
// first started at 5), one, empty.
TEST(LaunchesOfDevices, TellLatencyAndQueueDepth) {
  TestTrace t;
  t.launched("gemm", 0, 5, 50);
  t.launched("gemm", 10, 50, 60);
  t.launched("gemm", 20, 60, 70);
  t.launched("gemm", 100, 107, 120);
  t.kernel("gemm", 130, 140);  // its call was not recorded
  const DeviceLaunches devices = find_launches(t.freeze());
  ASSERT_EQ(devices.size(), 1U);
  const profile::Launches& row = devices.begin()->second;
  EXPECT_EQ(row.launches, 4U);
  EXPECT_EQ(row.without_launch, 1U);
  EXPECT_EQ(to_nanoseconds(*row.call.p50), 2);
  EXPECT_EQ(row.to_start.count, 4U);
  EXPECT_EQ(to_nanoseconds(*row.to_start.max), 40);
  EXPECT_EQ(row.to_idle_gpu.count, 2U);  // those at 0 and 100
  EXPECT_EQ(to_nanoseconds(*row.to_idle_gpu.min), 5);
  EXPECT_EQ(to_nanoseconds(*row.to_idle_gpu.max), 7);
  EXPECT_EQ(row.queue_depth.max, 1);
  EXPECT_EQ(row.queue_depth.mean, 0.25);
}

TEST(LaunchesOfDevices, CountAGraphOnce) {
  TestTrace t;
  const uint32_t graph = t.call("cudaGraphLaunch", 0, 30);
  t.kernel("gemm", 20, 1'520, graph);
  t.kernel("norm", 1'600, 5'600, graph);
  t.kernel("mul", 6'000, 15'000, graph);
  t.kernel("gemm", 20'000, 40'000, graph);
  const DeviceLaunches devices = find_launches(t.freeze());
  ASSERT_EQ(devices.size(), 1U);
  const profile::Launches& row = devices.begin()->second;
  EXPECT_EQ(row.launches, 1U);
  EXPECT_EQ(to_nanoseconds(*row.to_start.max), 20);
  const auto& shorter = row.short_kernels;
  ASSERT_EQ(shorter.size(), 3U);
  EXPECT_EQ(shorter[0].share_of_kernels->value, 0.25);
  EXPECT_EQ(to_nanoseconds(shorter[0].below), 2'000);
  EXPECT_EQ(shorter[0].count, 1U);
  EXPECT_EQ(to_nanoseconds(shorter[0].total), 1'500);
  EXPECT_EQ(shorter[1].count, 2U);
  EXPECT_EQ(shorter[2].count, 3U);
  EXPECT_EQ(to_nanoseconds(shorter[2].total), 14'500);
}

}  // namespace
}  // namespace llmprof::analysis
