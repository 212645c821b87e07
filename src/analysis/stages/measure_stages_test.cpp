#include "analysis/stages/measure_stages.h"

#include <gtest/gtest.h>

#include "analysis/stages/kernel_scopes.h"
#include "testing/stages_fixture.h"

namespace llmprof::analysis {
namespace {

using MeasureStagesTest = StagesFixture;

TEST_F(MeasureStagesTest, CountsOverlapOnceInBusyTime) {
  const InstanceId prefill = instance(kPrefill, 0, 100);
  kernel(prefill, {}, 10, 20);
  kernel(prefill, {}, 15, 30);
  trace_.copy(0, 25, 40);
  stages_.owners.memory_instance = {prefill};
  trace_.replay(0, 50, 60);
  stages_.owners.replay_instance = {prefill};
  kernel(prefill, {}, 55, 58);
  measure();
  const GpuWork& work = stages_.instances[0].work;
  EXPECT_EQ(work.kernel_count, 3U);
  EXPECT_EQ(work.kernel_sum, 10 + 15 + 3);
  EXPECT_EQ(work.memory_sum, 15);
  EXPECT_EQ(work.hidden_graph_sum, 10);
  EXPECT_EQ(work.busy, 30 + 10);
}

TEST_F(MeasureStagesTest, ExtendsARangeToItsLastGpuWorkAndSaysSo) {
  kernel(instance(kPrefill, 0, 10), {}, 5, 3000010);
  kernel(instance(kPrefill, 4000000, 8000000), {}, 4000001, 4000002);
  measure();
  EXPECT_EQ(stages_.instances[0].end, 3000010);
  EXPECT_EQ(stages_.instances[0].range_end, 10);
  EXPECT_EQ(stages_.instances[1].end, 8000000);
  ASSERT_EQ(diagnostics_.items().size(), 1U);
  EXPECT_EQ(diagnostics_.items()[0].code, "stage_extended");
  EXPECT_EQ(diagnostics_.items()[0].count, 1U);
  EXPECT_NE(diagnostics_.items()[0].message.find("3.000 ms"), std::string::npos);
}

// The CPU runs ahead: all three steps are launched by 30, the GPU works until 100.
TEST_F(MeasureStagesTest, MeasuresAStepFromTheEndOfTheOneBefore) {
  const InstanceId loop = instance(kDecode, 0, 110);
  const StepId first = step(loop, 0);
  const StepId second = step(loop, 10);
  const StepId third = step(loop, 20);
  kernel(loop, first, 5, 38);
  kernel(loop, second, 40, 70);
  kernel(loop, third, 71, 80);
  kernel(loop, third, 90, 100);
  measure();
  EXPECT_EQ(stages_.steps[0].start, 0);
  EXPECT_EQ(stages_.steps[0].end, 38);
  EXPECT_EQ(stages_.steps[1].start, 38);
  EXPECT_EQ(stages_.steps[1].wall(), 32);
  EXPECT_EQ(stages_.steps[2].wall(), 30);
  EXPECT_EQ(stages_.steps[2].work.busy, 19);
  EXPECT_EQ(stages_.stages[0].name, "decode");
  EXPECT_EQ(stages_.stages[0].step_wall.count, 3U);
  // 110 / 3, to the nanosecond
  EXPECT_EQ(token_walls(stages_).per_token, std::vector<Nanoseconds>({37}));
}

TEST_F(MeasureStagesTest, PutsInstancesAndStepsInOrderWithTheirOwners) {
  const InstanceId late = instance(kDecode, 100, 200);
  const InstanceId early = instance(kPrefill, 0, 50);
  const StepId second = step(late, 150);
  const StepId first = step(late, 100);
  kernel(early, {}, 10, 20);
  kernel(late, first, 110, 120);
  kernel(late, second, 160, 190);
  measure();
  EXPECT_EQ(stages_.stages[0].name, "prefill");
  EXPECT_EQ(stages_.instances[0].start, 0);
  EXPECT_EQ(stages_.instances[1].first_step, 0U);
  EXPECT_EQ(stages_.instances[1].step_count, 2U);
  EXPECT_EQ(stages_.owners.kernel_instance[0], InstanceId(0));
  EXPECT_EQ(stages_.owners.kernel_instance[2], InstanceId(1));
  EXPECT_EQ(stages_.owners.kernel_step[1], StepId(0));
  EXPECT_EQ(stages_.owners.kernel_step[2], StepId(1));
  EXPECT_EQ(stages_.steps[1].wall(), 70);  // 120 to 190
}

// The step before the first one was not recorded: the GPU worked on it until 40 ms. One kernel of
// another stream ran meanwhile and belongs to no stage.
TEST_F(MeasureStagesTest, StartsTheFirstStepBehindWorkThatWasNotRecorded) {
  constexpr Nanoseconds kMs = 1'000'000;
  stages_.serving = true;
  const InstanceId first = instance(kPrefill, 0, 3 * kMs);
  testing::HandMadeTrace::Place other;
  other.stream = 8;
  trace_.kernel("a", 0, 1000, 2000, other);
  trace_.kernel("b", 3000, 40 * kMs, 70 * kMs);
  trace_.kernel("c", 4000, 70 * kMs, 90 * kMs);
  stages_.owners.kernel_instance = {first, first, first};
  stages_.owners.kernel_step.resize(3);
  measure();
  EXPECT_EQ(stages_.instances[0].start, 40 * kMs);
  EXPECT_EQ(stages_.instances[0].wall(), 50 * kMs);
  EXPECT_EQ(stages_.instances[0].work.kernel_count, 2U);
  EXPECT_EQ(coverage(frozen_, stages_, std::nullopt)->kernels_in_stages, 2U);
  EXPECT_TRUE(diagnostics_.has("unrecorded_work_before"));
}

// A profiler starts within the first step: 60 ms before its first kernel, 20 ms of work. If it is
// the only step, it is kept without them; next to another step, statistics exclude it.
TEST_F(MeasureStagesTest, DoesNotCountWhatPrecedesTheFirstWorkOfTheCapture) {
  stages_.serving = true;
  kernel(instance(kPrefill, 0, 80), {}, 60, 80);
  measure();
  EXPECT_EQ(stages_.instances[0].wall(), 20);
  EXPECT_EQ(stages_.stages[kPrefill].wall.count, 1U);
}

}  // namespace
}  // namespace llmprof::analysis
