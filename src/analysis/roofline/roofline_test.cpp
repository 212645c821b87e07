#include "analysis/roofline/roofline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "analysis/ranking/kernels.h"
#include "testing/read_capture.h"
#include "testing/reasons.h"
#include "testing/shared_captures.h"

namespace llmprof::analysis {
namespace {

using testing::Kinds;
using testing::kinds_of;
using testing::number_of;

constexpr std::string_view kCompute = "sm__throughput.avg.pct_of_peak_sustained_elapsed";
constexpr std::string_view kMemory =
    "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed";

// One kernel with the metrics that a test gives it.
class RooflineTest : public ::testing::Test {
 protected:
  RooflineTest() { ranking_.rows.resize(1); }

  void metric(std::string_view name, double mean, std::string_view unit, uint64_t launches = 1) {
    ranking_.rows[0].metrics[std::string(name)] = {mean, mean, mean, launches, std::string(unit)};
  }
  void of_class(KernelClass kernel_class) {
    ranking_.rows[0].description.kernel_class = kernel_class;
  }
  // 2 x ffma, 1 x fadd, 1 x fmul and 4 x hfma for 1000 cycles/s: (2 * 3 + 5 + 7 + 4 * 2) * 1000.
  void scalar_instructions() {
    const auto add = [&](std::string_view op, double per_cycle) {
      metric("smsp__sass_thread_inst_executed_op_" + std::string(op) +
                 "_pred_on.sum.per_cycle_elapsed",
             per_cycle, "inst/cycle");
    };
    metric("smsp__cycles_elapsed.avg.per_second", 1000, "hz");
    add("ffma", 3);
    add("fadd", 5);
    add("fmul", 7);
    add("hfma", 2);
    add("hadd", 0);
    add("hmul", 0);
  }
  KernelRoofline only() {
    const RankedRoofline roofline = kernel_roofline(ranking_);
    EXPECT_EQ(roofline.kernels.size(), 1U);
    return roofline.kernels.empty() ? KernelRoofline() : roofline.kernels[0];
  }
  Bound bound(double compute, double memory) {
    metric(kCompute, compute, "%");
    metric(kMemory, memory, "%");
    return only().bound;
  }

  KernelRanking ranking_;
};

TEST_F(RooflineTest, BoundsByTheHigherOfTwoThroughputs) {
  EXPECT_EQ(bound(10, 60), Bound::memory);
  EXPECT_EQ(bound(70, 65), Bound::compute);
  EXPECT_EQ(bound(65, 65), Bound::memory);
  EXPECT_EQ(bound(59.9, 59.9), Bound::latency);
  const RankedRoofline roofline = kernel_roofline(ranking_);
  EXPECT_EQ(kinds_of(roofline.rule), Kinds{"bound_by_ncu"});
  EXPECT_EQ(number_of(roofline.rule, "bound_share_of_peak"), 0.6);
}

TEST_F(RooflineTest, TakesTheBusiestPipeWithoutSpeedOfLight) {
  metric("sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active", 90, "%");
  metric("sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", 71, "%");
  metric("sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_elapsed", 12, "%");
  metric("dram__throughput.avg.pct_of_peak_sustained_elapsed", 33, "%");
  metric("lts__throughput.avg.pct_of_peak_sustained_elapsed", 44, "%");
  EXPECT_EQ(only().compute_share_of_peak->value, 0.71);
  EXPECT_EQ(only().memory_share_of_peak->value, 0.44);
  EXPECT_EQ(only().bound, Bound::compute);
  metric(kCompute, 20, "%");  // SpeedOfLight takes precedence
  EXPECT_EQ(only().compute_share_of_peak->value, 0.20);
}

TEST_F(RooflineTest, KnowsNoBoundFromOneThroughput) {
  metric(kCompute, 90, "%");
  EXPECT_EQ(only().bound, Bound::unknown);
}

TEST_F(RooflineTest, AddsUpInstructionsOutsideTensorCores) {
  scalar_instructions();
  of_class(KernelClass::elementwise);
  metric("dram__bytes.sum.per_second", 13000, "byte/s", 4);
  const KernelRoofline kernel = only();
  EXPECT_DOUBLE_EQ(kernel.flops_per_s->value, 26000);
  EXPECT_DOUBLE_EQ(kernel.bytes_per_s->value, 13000);
  EXPECT_DOUBLE_EQ(kernel.flops_per_byte->value, 2);
  EXPECT_EQ(kernel.launches, 4U);
}

TEST_F(RooflineTest, GivesNoFlopsOfAProductWithoutTensorMetrics) {
  scalar_instructions();
  of_class(KernelClass::gemm);
  metric(kCompute, 10, "%");
  EXPECT_FALSE(only().flops_per_s.has_value());
  EXPECT_EQ(kinds_of(kernel_roofline(ranking_).missing),
            (Kinds{"flops_not_counted", "bytes_not_counted", "throughput_not_measured"}));
  metric("sm__ops_path_tensor_src_bf16_dst_fp32.sum.per_second", 1e6, "");
  metric("sm__ops_path_tensor_src_fp16.sum.per_second", 1e5, "");
  metric("sm__ops_path_tensor_src_fp16.sum", 7, "");  // ignored: its rate is there
  metric("sm__ops_path_tensor_op_hgmma_src_fp16_sparsity_off.sum.per_second", 1e5,
         "");  // the same operations again
  EXPECT_DOUBLE_EQ(only().flops_per_s->value, 26000 + 1.1e6);
}

TEST_F(RooflineTest, GivesNoFlopsWhereAnInstructionWasNotCounted) {
  scalar_instructions();
  of_class(KernelClass::norm);
  ranking_.rows[0].metrics.erase(
      "smsp__sass_thread_inst_executed_op_hadd_pred_on.sum.per_cycle_elapsed");
  metric(kCompute, 10, "%");
  EXPECT_FALSE(only().flops_per_s.has_value());
}

// 3000 + 1000 bytes in 2 us.
TEST_F(RooflineTest, TakesCountsOverTheDurationWhereThereAreNoRates) {
  metric("dram__bytes_read.sum", 3000, "byte");
  metric("dram__bytes_write.sum", 1000, "byte");
  EXPECT_TRUE(kernel_roofline(ranking_).kernels.empty());
  metric("gpu__time_duration.sum", 2000, "ns");
  EXPECT_DOUBLE_EQ(only().bytes_per_s->value, 2e9);
}

TEST_F(RooflineTest, TellsMetricsOfOneNameApartByUnit) {
  metric("Memory Throughput (%)", 70, "%");
  metric("Memory Throughput (byte/s)", 5e9, "byte/s");
  metric("Compute (SM) Throughput", 20, "%");
  const KernelRoofline kernel = only();
  EXPECT_DOUBLE_EQ(kernel.memory_share_of_peak->value, 0.7);
  EXPECT_DOUBLE_EQ(kernel.bytes_per_s->value, 5e9);
  EXPECT_EQ(kernel.bound, Bound::memory);
}

TEST_F(RooflineTest, SaysWhatWouldGiveIt) {
  const RankedRoofline roofline = kernel_roofline(ranking_);
  EXPECT_TRUE(roofline.kernels.empty());
  EXPECT_EQ(kinds_of(roofline.missing), Kinds{"no_kernel_metrics"});
}

// A capture's ranking and its roofline; finds kernels by a prefix of their name.
struct Placed {
  explicit Placed(const std::filesystem::path& path) : trace(testing::read_capture(path).value()) {
    const auto rules = KernelRules::load({});
    EXPECT_TRUE(rules);
    ranking = rank_kernels(trace, DescribedNames(trace, *rules));
    join_metrics(trace, ranking);
    roofline = kernel_roofline(ranking);
  }
  [[nodiscard]] KernelRoofline kernel(std::string_view name) const {
    const auto found = std::find_if(
        roofline.kernels.begin(), roofline.kernels.end(), [&](const KernelRoofline& each) {
          return trace.strings[ranking.rows[each.row].name].starts_with(name);
        });
    EXPECT_NE(found, roofline.kernels.end()) << name;
    return found == roofline.kernels.end() ? KernelRoofline() : *found;
  }

  trace::Trace trace;
  KernelRanking ranking;
  RankedRoofline roofline;
};

// Expected values are from a plain Python program that uses csv.reader: it computes FLOPs from each
// launch's instruction counts and tensor operations, divides by its duration, and averages over
// launches.
TEST(RooflineOfCaptures, AgreesWithPlainPythonOnTheRawPage) {
  const auto captures = testing::h200_captures();
  const Placed placed(captures / "h200-llama-eager" / "ncu_decode_raw.csv.gz");
  EXPECT_EQ(placed.roofline.kernels.size(), placed.ranking.rows.size());
  EXPECT_TRUE(placed.roofline.missing.empty());
  const auto expect = [&](std::string_view name, uint64_t launches, double flops, double bytes,
                          double compute, double memory, Bound bound) {
    constexpr double kPart = 2e-4;  // the clock rate is rounded to six decimals of a gigahertz
    const KernelRoofline kernel = placed.kernel(name);
    EXPECT_EQ(kernel.launches, launches) << name;
    EXPECT_NEAR(kernel.flops_per_s->value, flops, flops * kPart) << name;
    EXPECT_NEAR(kernel.bytes_per_s->value, bytes, bytes * kPart) << name;
    EXPECT_NEAR(kernel.flops_per_byte->value, flops / bytes, flops / bytes * 2 * kPart) << name;
    EXPECT_NEAR(kernel.compute_share_of_peak->value * 100, compute, 6e-4) << name;
    EXPECT_NEAR(kernel.memory_share_of_peak->value * 100, memory, 6e-4) << name;
    EXPECT_EQ(kernel.bound, bound) << name;
  };
  expect("nvjet_sm90_tst_64x8_64x16_2x1_v_bz_TNT", 4, 2.27798e13, 2.89524e12, 9.495, 60.323,
         Bound::memory);
  expect("nvjet_sm90_tst_64x8_64x16_4x1_v_bz_splitK_TNT", 2, 2.11883e13, 2.67286e12, 8.280, 55.724,
         Bound::latency);
  expect("cudnn_generated_fort_native_sdpa_sm80_flash_fprop", 3, 6.99669e12, 3.81859e11, 5.204,
         7.994, Bound::latency);
  expect("void cutlass::Kernel2<cutlass_80_simt_sgemm", 1, 1.89217e10, 8.278e9, 0.128, 0.763,
         Bound::latency);
}

// The details page has no FLOPs; its other figures are those on the raw page, rounded.
TEST(RooflineOfCaptures, ReadsTheDetailsPageWithoutFlops) {
  const auto captures = testing::h200_captures();
  const Placed placed(captures / "h200-llama-eager" / "ncu_decode_details.csv.gz");
  const KernelRoofline kernel = placed.kernel("nvjet_sm90_tst_64x8_64x16_2x1_v_bz_TNT");
  EXPECT_FALSE(kernel.flops_per_s.has_value());
  EXPECT_NEAR(kernel.bytes_per_s->value, 2.89524e12, 0.01e12);
  EXPECT_NEAR(kernel.compute_share_of_peak->value * 100, 9.495, 0.006);
  EXPECT_NEAR(kernel.memory_share_of_peak->value * 100, 60.323, 0.006);
  EXPECT_EQ(kernel.bound, Bound::memory);
  EXPECT_EQ(kinds_of(placed.roofline.missing), Kinds{"flops_not_counted"});
  const auto kernels = static_cast<double>(placed.roofline.kernels.size());
  EXPECT_EQ(number_of(placed.roofline.missing, "kernels_without"), kernels);
  EXPECT_EQ(number_of(placed.roofline.missing, "kernels"), kernels);
}

// Only four metrics: bytes over time, summed over the launches in plain Python.
TEST(RooflineOfCaptures, GivesWhatFewMetricsAllow) {
  const auto captures = testing::h200_captures();
  const Placed placed(captures / "h200-llama-eager" / "ncu_prefill_live.csv.gz");
  const KernelRoofline kernel = placed.kernel("nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_TNT");
  EXPECT_EQ(kernel.launches, 8U);
  EXPECT_NEAR(kernel.bytes_per_s->value, 1.114862372526802e12, 1e3);
  EXPECT_FALSE(kernel.flops_per_s.has_value());
  EXPECT_TRUE(kernel.compute_share_of_peak.has_value());
  EXPECT_EQ(kernel.bound, Bound::unknown);
}

}  // namespace
}  // namespace llmprof::analysis
