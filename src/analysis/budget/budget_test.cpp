#include "analysis/budget/budget.h"

#include <gtest/gtest.h>

#include "analysis/budget/idle_gaps.h"
#include "testing/budget_parts.h"
#include "testing/reasons.h"
#include "testing/staged_trace.h"

namespace llmprof::analysis {
namespace {

// The kind and texts of what the host did.
std::string host_text(const IdleGap& gap) {
  std::string words = std::string(to_string(gap.host.kind)) + ":";
  for (const profile::FindingValue& value : gap.host.values) {
    words += " " + value.text.value_or("");
  }
  return words;
}

TEST(TimeBudget, NamesItsParts) {
  EXPECT_EQ(budget_part_name(0), "gemm");
  EXPECT_EQ(budget_part_name(static_cast<size_t>(KernelClass::communication)),
            "exposed communication");
  EXPECT_EQ(budget_part_name(static_cast<size_t>(BudgetPart::hidden_graphs)), "hidden CUDA graphs");
  EXPECT_EQ(budget_part_name(static_cast<size_t>(BudgetPart::unattributed)), "unattributed");
  EXPECT_TRUE(is_idle(static_cast<size_t>(BudgetPart::idle_launch)));
  EXPECT_TRUE(is_idle(static_cast<size_t>(BudgetPart::idle_after_last)));
  EXPECT_FALSE(is_idle(static_cast<size_t>(BudgetPart::memory_operations)));
  EXPECT_FALSE(is_idle(static_cast<size_t>(BudgetPart::unattributed)));
}

TEST(TimeBudget, ShowsCallsWithoutTheVersionOfTheirInterface) {
  EXPECT_EQ(plain_api_name("cudaLaunchKernel_v7000"), "cudaLaunchKernel");
  EXPECT_EQ(plain_api_name("cuGetProcAddress_v2"), "cuGetProcAddress_v2");
}

// gemm 10-30 and mul 20-50 overlap for 10, charged to gemm, which started first.
TEST(TimeBudget, ChargesOverlapToTheKernelThatStartedFirst) {
  TestTrace t;
  t.instance(t.stage("prefill"), 0, 60);
  t.kernel("gemm", 10, 30);
  t.kernel("mul", 20, 50);
  t.kernel("norm", 25, 28);  // entirely inside
  const Parts parts = parts_of(t.budgets().instances[0]);
  EXPECT_EQ(parts, (Parts{{"gemm", 20},
                          {"elementwise", 20},
                          {"idle: before the first GPU work", 10},
                          {"idle: after the last GPU work", 10}}));
}

// all_reduce 0-100 is covered by gemm 20-40 and mul 30-50: exposed 20 + 50. The copy 90-130 is
// hidden until 100 and by norm 110-120: 10 + 10.
TEST(TimeBudget, ChargesCommunicationAndCopiesOnlyWhereTheyAreExposed) {
  TestTrace t;
  t.instance(t.stage("decode"), 0, 130);
  t.kernel("all_reduce", 0, 100);
  t.kernel("gemm", 20, 40);
  t.kernel("mul", 30, 50);
  t.kernel("norm", 110, 120);
  t.copy(90, 130);
  const Parts parts = parts_of(t.budgets().instances[0]);
  EXPECT_EQ(parts, (Parts{{"exposed communication", 70},
                          {"gemm", 20},
                          {"elementwise", 10},
                          {"norm", 10},
                          {"memory copies and fills", 20}}));
}

TEST(TimeBudget, TakesHiddenGraphsAsKernels) {
  TestTrace t;
  t.instance(t.stage("decode"), 0, 100);
  t.replay(10, 60, t.call("cudaGraphLaunch", 0, 5));
  t.copy(50, 70);
  t.kernel("gemm", 40, 90);
  const Parts parts = parts_of(t.budgets().instances[0]);
  EXPECT_EQ(parts, (Parts{{"hidden CUDA graphs", 50},
                          {"gemm", 30},
                          {"idle: before the first GPU work", 10},
                          {"idle: after the last GPU work", 10}}));
}

// The gap 20-100 before a kernel whose call [80, 82) came late. Before the call, the thread was in
// cudaStreamSynchronize until 30, in cudaMalloc 40-50, and in no call for 10 + 30.
// Synchronization 10; launch-bound 10 (cudaMalloc) + 20 (80 to 100); host 40.
TEST(TimeBudget, SplitsAGapByWhatTheLaunchingThreadDid) {
  TestTrace t;
  t.instance(t.stage("decode"), 10, 110);
  t.launched("gemm", 5, 10, 20);
  t.call("cudaStreamSynchronize_v3020", 12, 30);
  t.call("cuStreamSynchronize", 13, 29);  // the driver's call inside the runtime's
  t.call("cudaMalloc_v3020", 40, 50);
  t.call("cudaDeviceSynchronize", 20, 100, true);  // another thread's call: irrelevant
  t.launched("gemm", 80, 100, 110);
  const Budgets budgets = t.budgets();
  EXPECT_EQ(parts_of(budgets.instances[0]), (Parts{{"gemm", 20},
                                                   {"idle: synchronisation", 10},
                                                   {"idle: launch-bound", 30},
                                                   {"idle: host between launches", 40}}));
  ASSERT_EQ(budgets.gaps.size(), 1U);
  EXPECT_EQ(budgets.gaps[0].cause, BudgetPart::idle_host);
  EXPECT_EQ(budgets.gaps[0].start, 20);
  EXPECT_EQ(budgets.gaps[0].end, 100);
  EXPECT_EQ(host_text(budgets.gaps[0]), "host_code: no");
  EXPECT_EQ(budgets.stages[0].gaps[static_cast<size_t>(BudgetPart::idle_host)], 1U);
}

// Called and returned before the gap 30-40: launched in time. Called at 45, returned at 55, while
// the GPU ran dry at 50: late, so 50-60 is launch-bound.
TEST(TimeBudget, TellsQueuedWorkFromLateLaunches) {
  TestTrace t;
  t.instance(t.stage("decode"), 20, 70);
  t.launched("gemm", 10, 20, 30);
  t.launched("mul", 15, 40, 50);
  t.kernel("norm", 60, 70, t.call("cudaLaunchKernel", 45, 55));
  const Budgets budgets = t.budgets();
  EXPECT_EQ(parts_of(budgets.instances[0]), (Parts{{"gemm", 10},
                                                   {"elementwise", 10},
                                                   {"norm", 10},
                                                   {"idle: between queued kernels", 10},
                                                   {"idle: launch-bound", 10}}));
  ASSERT_EQ(budgets.gaps.size(), 2U);
  EXPECT_EQ(budgets.gaps[0].host.kind, profile::ReasonKind::host_launched_ahead);
  EXPECT_LT(testing::number_of({budgets.gaps[0].host}, "before_gap"), 0.05e-3);
  EXPECT_EQ(budgets.gaps[0].work_before, "gemm");
  EXPECT_EQ(budgets.gaps[0].work_after, "mul");
  EXPECT_EQ(host_text(budgets.gaps[1]), "host_call: cudaLaunchKernel");
}

// Called at 60 us, returned at 65, started at 10,000: the GPU waited for something other than the
// launch. The last one starts 15 us after its call returned: a late launch.
TEST(TimeBudget, TakesTheTimeLongAfterALaunchReturnedAsQueued) {
  TestTrace t;
  t.instance(t.stage("decode"), 0, 11'060'000);
  t.launched("gemm", 0, 0, 50'000);
  t.kernel("mul", 10'000'000, 11'000'000, t.call("cudaGraphLaunch", 60'000, 65'000));
  t.kernel("norm", 11'040'000, 11'060'000, t.call("cudaLaunchKernel", 11'020'000, 11'025'000));
  const Budgets budgets = t.budgets();
  EXPECT_EQ(parts_of(budgets.instances[0]), (Parts{{"gemm", 50'000},
                                                   {"elementwise", 1'000'000},
                                                   {"norm", 20'000},
                                                   {"idle: host between launches", 30'000},
                                                   {"idle: launch-bound", 25'000},
                                                   {"idle: between queued kernels", 9'935'000}}));
  ASSERT_EQ(budgets.gaps.size(), 2U);
  EXPECT_EQ(budgets.gaps[0].cause, BudgetPart::idle_queued);
  EXPECT_EQ(budgets.gaps[0].host.kind, profile::ReasonKind::host_launched_before);
  EXPECT_NEAR(testing::number_of({budgets.gaps[0].host}, "before_start"), 9.94, 1e-9);
}

// A graph launch's call has not returned when its nodes run: nodes after the first are queued.
TEST(TimeBudget, TakesTheLaterNodesOfAGraphAsQueued) {
  TestTrace t;
  t.instance(t.stage("decode"), 0, 100);
  t.launched("mul", 0, 5, 10);
  const uint32_t graph = t.call("cudaGraphLaunch_v10000", 30, 90);
  t.kernel("gemm", 50, 60, graph);
  t.kernel("norm", 65, 100, graph);
  const Budgets budgets = t.budgets();
  EXPECT_EQ(parts_of(budgets.instances[0]), (Parts{{"gemm", 10},
                                                   {"norm", 35},
                                                   {"elementwise", 5},
                                                   {"idle: before the first GPU work", 5},
                                                   {"idle: host between launches", 20},
                                                   {"idle: launch-bound", 20},
                                                   {"idle: between queued kernels", 5}}));
  ASSERT_EQ(budgets.gaps.size(), 3U);
  EXPECT_EQ(host_text(budgets.gaps[2]), "host_launched_graph:");
}

// Other work in the gaps is not idle time: 25-35 between, 0-3 before, 95-100 after. A gap without a
// launch record (45-60) has no known cause, either.
TEST(TimeBudget, LeavesOthersWorkAndUnknownLaunchesUnattributed) {
  TestTrace t;
  t.instance(t.stage("decode"), 0, 100);
  t.outside();
  t.kernel("cast", 0, 3);
  t.inside(0);
  t.launched("gemm", 5, 10, 20);
  t.outside();
  t.kernel("cast", 25, 35);
  t.inside(0);
  t.launched("gemm", 38, 40, 45);
  t.kernel("norm", 60, 95);
  t.outside();
  t.kernel("cast", 90, 100);
  // Gap 20-40: 10 of other work, host 20-25 and 35-38 (8), launch 38-40 (2). Gap 45-60: no record.
  const Budgets budgets = t.budgets();
  EXPECT_EQ(parts_of(budgets.instances[0]), (Parts{{"gemm", 15},
                                                   {"norm", 35},
                                                   {"idle: before the first GPU work", 7},
                                                   {"idle: host between launches", 8},
                                                   {"idle: launch-bound", 2},
                                                   {"unattributed", 3 + 10 + 15 + 5}}));
  ASSERT_EQ(budgets.gaps.size(), 3U);
  EXPECT_EQ(host_text(budgets.gaps[0]), "host_not_recorded:");
  EXPECT_EQ(budgets.gaps[0].cause, BudgetPart::unattributed);
}

// Each instance sees the other's kernels as other work if their windows overlap.
TEST(TimeBudget, TellsOverlappingInstancesApart) {
  TestTrace t;
  const uint32_t stage = t.stage("decode");
  t.instance(stage, 0, 40);
  t.launched("gemm", 0, 10, 30);
  t.instance(stage, 20, 60);
  t.launched("norm", 25, 35, 50);
  const Budgets budgets = t.budgets();
  EXPECT_EQ(parts_of(budgets.instances[0]), (Parts{{"gemm", 20},
                                                   {"idle: before the first GPU work", 10},
                                                   {"idle: after the last GPU work", 5},
                                                   {"unattributed", 5}}));
  EXPECT_EQ(parts_of(budgets.instances[1]), (Parts{{"norm", 15},
                                                   {"idle: before the first GPU work", 5},
                                                   {"idle: after the last GPU work", 10},
                                                   {"unattributed", 10}}));
}

TEST(TimeBudget, LeavesAnInstanceWithoutGpuWorkUnattributed) {
  TestTrace t;
  const uint32_t stage = t.stage("prefill");
  t.instance(stage, 0, 40);
  t.instance(stage, 50, 70).device = trace::DeviceId();
  t.outside();
  t.kernel("gemm", 10, 20);
  const Budgets budgets = t.budgets();
  EXPECT_EQ(parts_of(budgets.instances[0]), (Parts{{"unattributed", 40}}));
  EXPECT_EQ(parts_of(budgets.instances[1]), (Parts{{"unattributed", 20}}));
  EXPECT_TRUE(budgets.gaps.empty());
}

// A kernel that starts before its own call (CPU and GPU clocks differ), one that starts before the
// instance and one that ends after it.
TEST(TimeBudget, CutsWhatClocksPutOutsideOfTheInstance) {
  TestTrace t;
  t.instance(t.stage("decode"), 10, 50);
  t.launched("gemm", 2, 5, 20);
  t.launched("mul", 33, 30, 35);
  t.launched("norm", 38, 45, 60);
  const Parts parts = parts_of(t.budgets().instances[0]);
  // Gap 20-30: the call is after the kernel and the thread is outside calls: host 10.
  // Gap 35-45: called at 38: the call of mul until 35, so host 3, launch 7.
  EXPECT_EQ(parts, (Parts{{"gemm", 10},
                          {"elementwise", 5},
                          {"norm", 5},
                          {"idle: host between launches", 13},
                          {"idle: launch-bound", 7}}));
}

TEST(TimeBudget, NamesWhatWasOpenOnTheHost) {
  TestTrace t;
  t.instance(t.stage("decode"), 0, 2000);
  t.range("decode_all", 0, 2000);
  t.range("decode_step", 0, 900);
  t.range("decode_step", 900, 2000);
  t.launched("gemm", 0, 10, 100);
  t.operation("aten::item", 110, 590);
  t.operation("aten::_local_scalar_dense", 120, 580);
  t.call("cudaStreamSynchronize_v3020", 130, 560);
  t.launched("gemm", 610, 620, 700);  // gap 100-620: synchronization
  t.operation("aten::mul", 700, 960);
  t.launched("gemm", 950, 960, 970);     // gap 700-960: inside an operator
  t.launched("gemm", 1500, 1510, 1995);  // gap 970-1510: between operators
  const Budgets budgets = t.budgets();
  EXPECT_EQ(sum_of(budgets.instances[0]), 2000);
  ASSERT_EQ(budgets.gaps.size(), 5U);
  EXPECT_EQ(budgets.gaps[0].length(), 540);
  EXPECT_EQ(host_text(budgets.gaps[0]), "host_code: yes decode_step");
  EXPECT_EQ(budgets.gaps[1].length(), 520);
  EXPECT_EQ(budgets.gaps[1].cause, BudgetPart::idle_synchronization);
  EXPECT_EQ(host_text(budgets.gaps[1]),
            "host_call: cudaStreamSynchronize aten::_local_scalar_dense");
  EXPECT_EQ(host_text(budgets.gaps[2]), "host_operator: aten::mul decode_step");
}

TEST(TimeBudget, KeepsWarmUpsApart) {
  TestTrace t;
  const uint32_t stage = t.stage("decode");
  t.instance(stage, 0, 100).warmup = true;
  t.launched("gemm", 0, 10, 20);
  t.instance(stage, 100, 200);
  t.launched("gemm", 100, 110, 140);
  t.instance(stage, 200, 300);
  t.launched("gemm", 200, 210, 230);
  const Budgets budgets = t.budgets();
  EXPECT_EQ(budgets.stages[0].instances, 2U);
  EXPECT_EQ(parts_of(budgets.stages[0].total), (Parts{{"gemm", 50},
                                                      {"idle: before the first GPU work", 20},
                                                      {"idle: after the last GPU work", 130}}));
  ASSERT_EQ(budgets.gaps.size(), 4U);
  EXPECT_EQ(budgets.gaps[0].instance, InstanceId(2));
  EXPECT_EQ(budgets.gaps[0].length(), 70);
}

TEST(TimeBudget, TellsGapsBetweenSteps) {
  TestTrace t;
  t.instance(t.stage("decode"), 0, 100);
  t.step(0, 40);
  t.launched("gemm", 0, 0, 20);
  t.launched("gemm", 25, 30, 40);  // 20-25 host, 25-30 launch, inside a step
  t.step(40, 100);
  t.launched("gemm", 55, 70, 100);  // 40-55 host, 55-70 launch, between steps
  const Budgets budgets = t.budgets();
  EXPECT_EQ(parts_of(budgets.stages[0].between_steps),
            (Parts{{"idle: host between launches", 15}, {"idle: launch-bound", 15}}));
}

TEST(TimeBudget, KeepsTheTenLongestGapsOfAStage) {
  TestTrace t;
  t.instance(t.stage("decode"), 0, 1000);
  Nanoseconds at = 0;
  for (Nanoseconds gap = 1; gap <= 30; ++gap) {
    t.launched("gemm", at - 1, at, at + 1);
    at += 1 + gap;
  }
  t.launched("gemm", at - 1, at, 1000);
  const Budgets budgets = t.budgets();
  ASSERT_EQ(budgets.gaps.size(), 10U);
  for (size_t i = 0; i < 10; ++i) {
    EXPECT_EQ(budgets.gaps[i].length(), 30 - static_cast<Nanoseconds>(i));
  }
}

// Three stalls of 500, 400 and 260 before attention, each at least half of 500. The fourth, of 100,
// and the gaps of 10 before norm do not count.
TEST(TimeBudget, FindsLongGapsThatComeBack) {
  TestTrace t;
  t.instance(t.stage("decode"), 0, 10000);
  Nanoseconds at = 0;
  for (const Nanoseconds stall : {500, 100, 400, 260}) {
    t.launched("gemm", at - 2, at, at + 100);
    at += 100 + stall;
    t.launched("attention", at - 2, at, at + 100);
    at += 110;
    t.launched("norm", at - 2, at, at + 100);
    at += 100;
  }
  const Budgets budgets = t.budgets();
  ASSERT_FALSE(budgets.repeated_gaps.empty());
  EXPECT_EQ(budgets.repeated_gaps[0].count, 3U);
  EXPECT_EQ(budgets.repeated_gaps[0].total, 1160);
  EXPECT_EQ(budgets.repeated_gaps[0].longest.length(), 500);
  EXPECT_EQ(budgets.repeated_gaps[0].longest.work_after, "attention");
}

}  // namespace
}  // namespace llmprof::analysis
