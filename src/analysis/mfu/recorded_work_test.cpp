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

// 60 GFLOP/s and 20 GB/s; prefill of 8 ms (5 busy), decode of 44 ms (40 busy).
RecordedStages recorded(double prefill_flops, double decode_bytes) {
  StageUtilization prefill;
  prefill.cost.parts = {{"gemm", prefill_flops, 1e6, 0}};
  StageUtilization decode;
  decode.cost.parts = {{"gemv", 1e6, decode_bytes / 2, 0}, {"attention", 0, 0, decode_bytes / 2}};
  return {prefill, decode};
}
llm::GpuSpec small_cpu() {
  return llm::measured_cpu("N1, 2 threads, measured", 60e9, 20e9, "f32", "loop");
}
const RequestedDevice kCpu = {"N1", std::nullopt, trace::DeviceKind::cpu};

TEST(Utilization, OfWhatOperatorsRecorded) {
  const UseOfPeaks use =
      utilization(dense_run(), std::nullopt, small_cpu(), {}, kCpu, recorded(120e6, 400e6));
  EXPECT_TRUE(use.why_not.empty());
  EXPECT_TRUE(use.stages[0].from_operators);
  EXPECT_NEAR(use.stages[0].mfu.wall->value, 120e6 / (0.008 * 60e9), 1e-12);  // 25 %
  EXPECT_NEAR(use.stages[0].mfu.gpu_busy->value, 120e6 / (0.005 * 60e9), 1e-12);
  EXPECT_NEAR(use.stages[1].mbu.wall->value, 400e6 / (0.044 * 20e9), 1e-12);
  EXPECT_NEAR(use.stages[1].mbu.gpu_busy->value, 400e6 / (0.040 * 20e9), 1e-12);
  EXPECT_FALSE(use.stages[0].memory_bound);
  EXPECT_TRUE(use.stages[1].memory_bound);
  EXPECT_EQ(*use.stages[1].floor, 20 * kMs);
  EXPECT_EQ(use.stages[0].peak_name, "f32, measured on this CPU");
}

TEST(Utilization, BytesFromACacheCostTheMbuAlone) {
  const UseOfPeaks use =
      utilization(dense_run(), std::nullopt, small_cpu(), {}, kCpu, recorded(120e6, 2000e6));
  EXPECT_FALSE(use.stages[1].mbu.wall);
  EXPECT_FALSE(use.stages[1].floor);
  EXPECT_EQ(kinds_of(use.stages[1].why_not), Kinds{"above_measured_bandwidth"});
  EXPECT_EQ(text_of(use.stages[1].why_not, "time"), "wall");
  EXPECT_NEAR(number_of(use.stages[1].why_not, "share"), 2000e6 / (0.044 * 20e9), 1e-12);
  EXPECT_TRUE(use.stages[1].mfu.wall);
  EXPECT_TRUE(use.stages[0].mfu.wall && use.stages[0].mbu.wall);
  // A measured peak may be exceeded slightly: 44 ms at 20 GB/s are 880 MB.
  const UseOfPeaks near =
      utilization(dense_run(), std::nullopt, small_cpu(), {}, kCpu, recorded(120e6, 860e6));
  EXPECT_GT(near.stages[1].mbu.gpu_busy->value, 1);
  EXPECT_EQ(kinds_of(near.stages[1].why_not), Kinds{"slightly_above_measured"});
}

TEST(Utilization, RecordedFlopsBesideTheModels) {
  llm::GpuSpec fast = llm::measured_cpu("N1", 2e15, 5e12, "f32", "");
  const UseOfPeaks agree = utilization(dense_run(), dense_graph(), fast, known_workload(777), kCpu,
                                       recorded(kPrefillFlops * 1.04, 1e9));
  ASSERT_TRUE(agree.stages[0].recorded);
  EXPECT_FALSE(agree.stages[0].from_operators);
  EXPECT_NEAR(agree.stages[0].cost.flops(), kPrefillFlops, 1);
  EXPECT_NEAR(agree.stages[0].recorded->mfu.wall->value, kPrefillFlops * 1.04 / (0.008 * 2e15),
              1e-9);
  const auto of_prefill = [](const UseOfPeaks& use) {
    size_t count = 0;
    for (const Diagnostic& warning : use.warnings.items()) {
      if (warning.code == "recorded_flops_differ" && warning.message.starts_with("prefill")) {
        ++count;
      }
    }
    return count;
  };
  EXPECT_EQ(of_prefill(agree), 0U);
  const UseOfPeaks differ = utilization(dense_run(), dense_graph(), fast, known_workload(777), kCpu,
                                        recorded(kPrefillFlops * 1.5, 1e9));
  EXPECT_EQ(of_prefill(differ), 1U);
}

TEST(Utilization, ACpuWithoutPeaksSaysWhereTheyComeFrom) {
  const UseOfPeaks use =
      utilization(dense_run(), std::nullopt, std::nullopt, {}, kCpu, recorded(120e6, 400e6));
  EXPECT_FALSE(use.stages[0].mfu.wall);
  EXPECT_EQ(kinds_of(use.stages[0].why_not), Kinds{"cpu_peaks_unknown"});
  EXPECT_NEAR(use.stages[0].cost.flops(), 120e6, 1);
}

}  // namespace
}  // namespace llmprof::analysis
