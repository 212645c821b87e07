#include "trace/name_kinds.h"

#include <gtest/gtest.h>

namespace llmprof::trace {
namespace {

TEST(KindOfCollective, FollowsFromNamesOfFrameworksAndLibraries) {
  EXPECT_EQ(collective_kind("allreduce"), CollectiveKind::all_reduce);
  EXPECT_EQ(collective_kind("allreduce_coalesced"), CollectiveKind::all_reduce);
  EXPECT_EQ(collective_kind("_allgather_base"), CollectiveKind::all_gather);
  EXPECT_EQ(collective_kind("_reduce_scatter_base"), CollectiveKind::reduce_scatter);
  EXPECT_EQ(collective_kind("nccl:all_to_all"), CollectiveKind::all_to_all);
  EXPECT_EQ(collective_kind("alltoall_base"), CollectiveKind::all_to_all);
  EXPECT_EQ(collective_kind("_broadcast_oop"), CollectiveKind::broadcast);
  EXPECT_EQ(collective_kind("reduce"), CollectiveKind::reduce);
  EXPECT_EQ(collective_kind("gather"), CollectiveKind::gather);
  EXPECT_EQ(collective_kind("scatter"), CollectiveKind::scatter);
  EXPECT_EQ(collective_kind("nccl:send 0->1"), CollectiveKind::send);
  EXPECT_EQ(collective_kind("ncclRecv"), CollectiveKind::receive);
  EXPECT_EQ(collective_kind("barrier"), CollectiveKind::barrier);
  EXPECT_EQ(collective_kind("coalesced"), CollectiveKind::other);
  EXPECT_EQ(collective_kind("wait"), std::nullopt);
}

TEST(KindOfCollective, FollowsFromNamesOfKernels) {
  EXPECT_EQ(
      collective_kind("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"),
      CollectiveKind::all_reduce);
  EXPECT_EQ(collective_kind("ncclKernel_AllGather_RING_LL_Sum_int8_t(ncclWorkElem)"),
            CollectiveKind::all_gather);
  EXPECT_EQ(collective_kind("ncclDevKernel_ReduceScatter_Sum_f16_RING_LL"),
            CollectiveKind::reduce_scatter);
  EXPECT_EQ(collective_kind("ncclDevKernel_Reduce_Sum_f32_RING_LL"), CollectiveKind::reduce);
  EXPECT_EQ(collective_kind("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)"),
            CollectiveKind::other);
  EXPECT_EQ(collective_kind(
                "void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>()"),
            CollectiveKind::all_reduce);
  EXPECT_EQ(collective_kind("nvshmemx_barrier_all_on_stream"), CollectiveKind::barrier);
}

}  // namespace
}  // namespace llmprof::trace
