#include "trace/name_kinds.h"

#include <gtest/gtest.h>

namespace llmprof::trace {
namespace {

std::string_view kind_of(std::string_view name) {
  const auto kind = collective_kind(name);
  return kind ? to_string(*kind) : "none";
}

TEST(KindOfCollective, FollowsFromNamesOfFrameworksAndLibraries) {
  EXPECT_EQ(kind_of("allreduce"), "all_reduce");
  EXPECT_EQ(kind_of("allreduce_coalesced"), "all_reduce");
  EXPECT_EQ(kind_of("_allgather_base"), "all_gather");
  EXPECT_EQ(kind_of("_reduce_scatter_base"), "reduce_scatter");
  EXPECT_EQ(kind_of("nccl:all_to_all"), "all_to_all");
  EXPECT_EQ(kind_of("alltoall_base"), "all_to_all");
  EXPECT_EQ(kind_of("_broadcast_oop"), "broadcast");
  EXPECT_EQ(kind_of("reduce"), "reduce");
  EXPECT_EQ(kind_of("gather"), "gather");
  EXPECT_EQ(kind_of("scatter"), "scatter");
  EXPECT_EQ(kind_of("nccl:send 0->1"), "send");
  EXPECT_EQ(kind_of("ncclRecv"), "receive");
  EXPECT_EQ(kind_of("barrier"), "barrier");
  EXPECT_EQ(kind_of("coalesced"), "other");
  EXPECT_EQ(kind_of("wait"), "none");
}

TEST(KindOfCollective, FollowsFromNamesOfKernels) {
  EXPECT_EQ(kind_of("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"),
            "all_reduce");
  EXPECT_EQ(kind_of("ncclKernel_AllGather_RING_LL_Sum_int8_t(ncclWorkElem)"), "all_gather");
  EXPECT_EQ(kind_of("ncclDevKernel_ReduceScatter_Sum_f16_RING_LL"), "reduce_scatter");
  EXPECT_EQ(kind_of("ncclDevKernel_Reduce_Sum_f32_RING_LL"), "reduce");
  EXPECT_EQ(kind_of("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)"), "other");
  EXPECT_EQ(kind_of("void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>()"),
            "all_reduce");
  EXPECT_EQ(kind_of("nvshmemx_barrier_all_on_stream"), "barrier");
}

}  // namespace
}  // namespace llmprof::trace
