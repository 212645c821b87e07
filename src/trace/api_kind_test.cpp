#include "trace/name_kinds.h"

#include <gtest/gtest.h>

#include "trace/builder.h"

namespace llmprof::trace {
namespace {

TEST(ApiKindTest, KernelLaunches) {
  for (const char* name :
       {"cudaLaunchKernel", "cudaLaunchKernel_v7000", "cudaLaunchKernelExC_v11060",
        "cuLaunchKernel", "cuLaunchKernelEx", "cudaLaunchCooperativeKernel_v9000", "cuLaunch",
        "cudaLaunch_v3020", "hipLaunchKernel", "hipModuleLaunchKernel",
        "hipExtModuleLaunchKernel"}) {
    EXPECT_EQ(api_kind(name), ApiKind::launch) << name;
  }
}

TEST(ApiKindTest, GraphLaunches) {
  for (const char* name :
       {"cudaGraphLaunch", "cudaGraphLaunch_v10000", "cuGraphLaunch", "hipGraphLaunch"}) {
    EXPECT_EQ(api_kind(name), ApiKind::graph_launch) << name;
  }
}

TEST(ApiKindTest, Synchronization) {
  for (const char* name : {"cudaStreamSynchronize_v3020", "cuCtxSynchronize",
                           "cudaEventSynchronize", "hipDeviceSynchronize"}) {
    EXPECT_EQ(api_kind(name), ApiKind::synchronization) << name;
    EXPECT_TRUE(waits_for_gpu(api_kind(name))) << name;
  }
}

TEST(ApiKindTest, OnlyBlockingCopiesWaitForTheGpu) {
  for (const char* name : {"cudaMemcpy", "cudaMemcpy_v3020", "cuMemcpyDtoH_v2", "hipMemcpy"}) {
    EXPECT_EQ(api_kind(name), ApiKind::blocking_copy) << name;
    EXPECT_TRUE(waits_for_gpu(api_kind(name))) << name;
  }
  for (const char* name : {"cudaMemcpyAsync", "cudaMemcpyAsync_v3020", "cuMemcpyDtoHAsync_v2",
                           "cudaMemcpy2DAsync_v3020", "hipMemcpyAsync"}) {
    EXPECT_EQ(api_kind(name), ApiKind::copy) << name;
    EXPECT_FALSE(waits_for_gpu(api_kind(name))) << name;
  }
}

TEST(ApiKindTest, Allocations) {
  for (const char* name : {"cudaMalloc_v3020", "cudaMallocAsync_v11020", "cudaFree_v3020",
                           "cuMemAlloc_v2", "cuMemFreeAsync", "cudaHostAlloc", "hipMalloc"}) {
    EXPECT_EQ(api_kind(name), ApiKind::allocation) << name;
  }
}

TEST(ApiKindTest, OtherCalls) {
  for (const char* name : {"", "cudaStreamWaitEvent", "cudaMemsetAsync_v3020", "cudaLaunchHostFunc",
                           "cudaEventRecord", "aten::copy_", "Memcpy HtoD"}) {
    EXPECT_EQ(api_kind(name), ApiKind::other) << name;
    EXPECT_FALSE(waits_for_gpu(api_kind(name))) << name;
  }
}

TEST(ApiKindTest, AFrozenTraceKnowsTheKindOfItsCallsNames) {
  TraceBuilder builder;
  builder.begin_capture({});
  const StringId unused = builder.string("cudaGraphLaunch");  // no call has this name
  const StringId launch = builder.string("cudaLaunchKernel");
  const StringId wait = builder.string("cudaStreamSynchronize");
  const ThreadId thread = builder.thread(builder.process(1, 1), 1, 1);
  LaunchTable& launches = builder.trace().launches;
  launches.start = {0, 10, 20, 30};
  launches.end = {1, 11, 21, 31};
  launches.thread = {thread, thread, thread, thread};
  launches.api = {launch, wait, launch, StringId()};
  launches.correlation = {1, 2, 3, 4};
  const Trace trace = std::move(builder).freeze();
  EXPECT_EQ(trace.api_kind(launch), ApiKind::launch);
  EXPECT_EQ(trace.api_kind(wait), ApiKind::synchronization);
  EXPECT_EQ(trace.api_kind(unused), ApiKind::other);
  EXPECT_EQ(trace.api_kind(StringId()), ApiKind::other);
}

}  // namespace
}  // namespace llmprof::trace
