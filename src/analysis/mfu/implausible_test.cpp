#include <gtest/gtest.h>

#include "analysis/mfu/utilization.h"
#include "testing/reasons.h"
#include "testing/utilization_run.h"

namespace llmprof::analysis {
namespace {

using testing::Kinds;
using testing::kinds_of;
using testing::number_of;
using testing::text_of;
using testing::value_of;

TEST(Utilization, FiguresAboveThePeakAreRefused) {
  StagesOfARun run;
  run.instance(0, 8 * kMs, 5 * kMs, std::vector<Step>(1));
  // 24 steps in 14 ms busy: kDecodeBytes / (0.014 x 4.8e12) = 1.116...; in 20 ms 0.781.
  run.instance(1, 20 * kMs, 14 * kMs, std::vector<Step>(24));
  const Stages stages = run.take();
  const UseOfPeaks use = utilization(stages, dense_graph(), h200(), known_workload(777), {"H200"});
  EXPECT_NEAR(kDecodeBytes / (0.014 * 4.8e12), 1.12, 0.04);
  for (const StageUtilization& stage : use.stages) {
    EXPECT_FALSE(stage.mbu.gpu_busy);
    EXPECT_FALSE(stage.mbu.wall);
    EXPECT_FALSE(stage.mfu.wall);
    EXPECT_FALSE(stage.mfu.gpu_busy);
    EXPECT_FALSE(stage.floor);
    EXPECT_FALSE(stage.memory_bound);
  }
  EXPECT_EQ(kinds_of(use.stages[1].why_not), Kinds{"impossible_figure"});
  EXPECT_EQ(kinds_of(use.stages[0].why_not), Kinds{"depends_on_impossible_figure"});
  for (const StageUtilization& stage : use.stages) {
    EXPECT_EQ(text_of(stage.why_not, "figure"), "MBU");
    EXPECT_EQ(text_of(stage.why_not, "stage"), "decode");
    EXPECT_EQ(text_of(stage.why_not, "time"), "busy");
    EXPECT_NEAR(number_of(stage.why_not, "share"), kDecodeBytes / (0.014 * 4.8e12), 1e-9);
    EXPECT_EQ(text_of(stage.why_not, "weights_dtype"), "bf16");
    EXPECT_EQ(text_of(stage.why_not, "weights_may_be_cached"), "no");
    // The figure does not depend on these: one GPU is known, decode has no prompt, batch is 1.
    for (const char* name : {"captured_gpu", "prompt_tokens", "batch"}) {
      EXPECT_EQ(value_of(stage.why_not, name), nullptr) << name;
    }
  }

  profile::Workload workload = known_workload(777);
  workload.batch = 64;
  workload.batch_source = "--batch";
  const UseOfPeaks batch = utilization(stages, dense_graph(), h200(), workload, {"H200"});
  EXPECT_FALSE(batch.stages[0].mfu.wall);
  EXPECT_FALSE(batch.stages[0].mfu.gpu_busy);
  EXPECT_FALSE(batch.stages[0].floor);
  EXPECT_EQ(number_of(batch.stages[0].why_not, "batch"), 64);
  EXPECT_EQ(text_of(batch.stages[0].why_not, "batch"), "--batch");
}

// 64 x 777 tokens in 8 ms are 2.2 PFLOP in 8 ms: impossible. Decode's 40 ms at batch 64 would be
// possible (24 times the weights and 64 caches: 77.7 GB + 39.7 GB in 44 ms) but is not reported.
TEST(Utilization, OneRefusalTakesAllFiguresBack) {
  profile::Workload workload = known_workload(777);
  workload.batch = 64;
  workload.batch_source = "--batch";
  const UseOfPeaks use = utilization(dense_run(), dense_graph(), h200(), workload, {"H200"});
  EXPECT_EQ(kinds_of(use.stages[0].why_not), Kinds{"impossible_figure"});
  EXPECT_EQ(text_of(use.stages[0].why_not, "figure"), "MFU");
  EXPECT_EQ(text_of(use.stages[0].why_not, "stage"), "prefill");
  EXPECT_EQ(text_of(use.stages[0].why_not, "time"), "wall");
  EXPECT_FALSE(use.stages[1].mbu.wall);
  EXPECT_FALSE(use.stages[1].floor);
  EXPECT_FALSE(use.stages[1].memory_bound);
  EXPECT_EQ(kinds_of(use.stages[1].why_not), Kinds{"depends_on_impossible_figure"});
  EXPECT_EQ(number_of(use.stages[1].why_not, "batch"), 64);
  EXPECT_EQ(text_of(use.stages[1].why_not, "batch"), "--batch");
}

TEST(Utilization, AnotherGpuIsTheFirstSuspect) {
  llm::GpuSpec small = h200();
  small.tensor_bf16 = 65e12;
  small.memory_bandwidth = 0.3e12;
  const UseOfPeaks use =
      utilization(dense_run(), dense_graph(), small, known_workload(777), {"T4", "NVIDIA H200"});
  EXPECT_EQ(text_of(use.stages[0].why_not, "gpu"), "T4");
  EXPECT_EQ(text_of(use.stages[0].why_not, "captured_gpu"), "NVIDIA H200");
  EXPECT_EQ(number_of(use.stages[0].why_not, "prompt_tokens"), 777);
  ASSERT_EQ(use.warnings.items().size(), 1U);
  EXPECT_EQ(use.warnings.items()[0].code, "gpu_contradicts_capture");
}

// One GPU, 8 KV heads and 32 heads, 24 steps.
TEST(Utilization, WarnsOfWhatTheCaptureContradicts) {
  profile::Workload workload = known_workload(777);
  workload.tp = 3;
  workload.new_tokens = 100;
  workload.new_tokens_source = "--new-tokens";
  const UseOfPeaks use = utilization(dense_run(), dense_graph(), h200(), workload, {"H200"});
  ASSERT_EQ(use.warnings.items().size(), 4U);
  EXPECT_TRUE(use.warnings.items()[0].message.starts_with("tp 3, but the capture shows 1 GPU:"));
  EXPECT_TRUE(
      use.warnings.items()[1].message.starts_with("tp 3 does not divide the model's 32 attention"));
  EXPECT_TRUE(
      use.warnings.items()[2].message.starts_with("tp 3 does not divide the model's 8 KV heads"));
  EXPECT_EQ(use.warnings.items()[3].message,
            "--new-tokens says 100 new tokens, but a decode has 24 steps; the steps are used");
  // A rank of a job: the other GPUs are in other captures.
  workload.tp = 4;
  workload.new_tokens = 25;
  const auto warned = [&](uint32_t ranks) {
    const RequestedDevice device = {"H200", std::nullopt, trace::DeviceKind::gpu, ranks};
    const UseOfPeaks made = utilization(dense_run(), dense_graph(), h200(), workload, device);
    return !made.warnings.items().empty();
  };
  EXPECT_FALSE(warned(4));
  workload.tp = 1;
  EXPECT_FALSE(warned(1));
}

}  // namespace
}  // namespace llmprof::analysis
