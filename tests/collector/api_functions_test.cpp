#include "collector/cuda/tracing/api_functions.h"

#include <gtest/gtest.h>

#include <string>

#include "trace/name_kinds.h"

namespace llmprof::collector {
namespace {

const char* const kDriverFunctions[] = {
#include "driver_names.inc"
};

enum class Noted { no, kernel, graph, wait };

// How the driver callbacks classify a function.
Noted noted_by_collector(const char* name) {
  const char* bare = bare_name(name);
  if (is_launch(bare)) return Noted::kernel;
  if (launches_graph(bare)) return Noted::graph;
  return waits(bare) ? Noted::wait : Noted::no;
}
// How the analysis classifies the same call if it was traced.
Noted taken_by_analysis(const char* name) {
  const trace::ApiKind kind = trace::api_kind(name);
  if (kind == trace::ApiKind::launch) return Noted::kernel;
  if (kind == trace::ApiKind::graph_launch) return Noted::graph;
  return trace::waits_for_gpu(kind) ? Noted::wait : Noted::no;
}

TEST(ApiFunctions, AreLaunchesOrWaitsByTheirNames) {
  for (const char* name : {"cuLaunchKernel", "cuLaunchKernel_ptsz", "cuLaunchKernelEx",
                           "cuLaunchCooperativeKernel", "cuLaunch"}) {
    EXPECT_EQ(noted_by_collector(name), Noted::kernel) << name;
  }
  for (const char* name : {"cuGraphLaunch", "cuGraphLaunch_ptsz"}) {
    EXPECT_EQ(noted_by_collector(name), Noted::graph) << name;
  }
  for (const char* name : {"cuStreamSynchronize", "cuCtxSynchronize", "cuEventSynchronize",
                           "cuMemcpyDtoH_v2", "cuMemcpy", "cuMemcpy2D_v2"}) {
    EXPECT_EQ(noted_by_collector(name), Noted::wait) << name;
  }
  for (const char* name :
       {"cuLaunchHostFunc", "cuMemcpyDtoHAsync_v2", "cuMemcpy2DAsync_v2", "cuMemsetD8Async",
        "cuMemAlloc_v2", "cuStreamWaitEvent", "cuEventQuery", "cuGraphInstantiate"}) {
    EXPECT_EQ(noted_by_collector(name), Noted::no) << name;
  }
}

// A traced run is compared, launch by launch, with one whose calls the driver reported.
TEST(ApiFunctions, AreClassifiedAsInTheAnalysis) {
  size_t noted = 0;
  for (const char* name : kDriverFunctions) {
    EXPECT_EQ(noted_by_collector(name), taken_by_analysis(name)) << name;
    if (noted_by_collector(name) != Noted::no) ++noted;
  }
  EXPECT_GT(noted, 30U);
}

}  // namespace
}  // namespace llmprof::collector
