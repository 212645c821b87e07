#include "analysis/savings/savings.h"

#include <gtest/gtest.h>

#include "testing/reasons.h"

namespace llmprof::analysis {
namespace {

using testing::Kinds;
using testing::kinds_of;
using testing::number_of;
using testing::text_of;

constexpr auto kGemm = static_cast<size_t>(KernelClass::gemm);
constexpr auto kGemv = static_cast<size_t>(KernelClass::gemv);
constexpr auto kNorm = static_cast<size_t>(KernelClass::norm);

const profile::Reasons kWeights = {make_reason(profile::ReasonKind::bytes_at_peak)};
const profile::Reasons kFuse = {make_reason(profile::ReasonKind::zero_fusible_into_products)};

void add(KernelRanking& ranking, std::vector<OpenedKernel>& opened, KernelClass kernel_class,
         Nanoseconds steady_total) {
  KernelRow row;
  row.description.kernel_class = kernel_class;
  row.description.short_name = to_string(kernel_class);
  ranking.rows.push_back(row);
  OpenedKernel kernel;
  kernel.stages.push_back({{9, 2 * steady_total}, {6, steady_total}, 0});
  opened.push_back(kernel);
}

double nanoseconds(profile::Milliseconds time) { return time.value * kNanosecondsPerMillisecond; }

// Two instances. Products: 300 + 100 ns of gemm and gemv per instance against a floor of 200: half
// of each kernel's time is floor. The norm has no floor.
TEST(KernelSavings, SharesTheFloorOfItsClassByTime) {
  KernelRanking ranking;
  std::vector<OpenedKernel> opened;
  add(ranking, opened, KernelClass::gemm, 600);
  add(ranking, opened, KernelClass::gemv, 200);
  add(ranking, opened, KernelClass::norm, 500);
  add(ranking, opened, KernelClass::other, 0);  // not in this stage
  StageSavings stage;
  stage.parts = {{kGemm, 300, 150, kWeights}, {kGemv, 100, 50, kWeights}, {kNorm, 250, 0, kFuse}};

  const auto found = kernel_savings(ranking, opened, 2, stage, {}, nullptr);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].short_name, "norm");
  EXPECT_DOUBLE_EQ(nanoseconds(found[0].saving), 250);
  EXPECT_EQ(kinds_of(found[0].floor_rule_reasons), Kinds{"zero_fusible_into_products"});
  EXPECT_EQ(found[1].short_name, "gemm");
  EXPECT_EQ(kinds_of(found[1].floor_rule_reasons), Kinds{"bytes_at_peak"});
  EXPECT_DOUBLE_EQ(nanoseconds(found[1].time), 300);
  EXPECT_DOUBLE_EQ(nanoseconds(found[1].floor), 150);
  EXPECT_EQ(found[2].short_name, "gemv");
  EXPECT_DOUBLE_EQ(nanoseconds(found[2].saving), 50);
}

// A GPU with 1 TB/s and 100 TFLOP/s. ncu measured 10 ns with 2,000 bytes (2 ns) and 500,000 FLOP
// (5 ns) per launch; 6 launches in 2 instances: 15 ns per instance.
class OwnFloors : public ::testing::Test {
 protected:
  OwnFloors() {
    gpu_.memory_bandwidth = 1e12;
    gpu_.tensor_bf16 = 1e14;
    gpu_.tensor_fp8 = 2e14;
    add(ranking_, opened_, KernelClass::gemm, 600);
    opened_[0].stages[0].steady_measured = 6;
    profile::Metric duration;
    duration.unit = "ns";
    duration.count = 1;
    duration.mean = 10;
    ranking_.rows[0].metrics["gpu__time_duration.sum"] = duration;
    KernelRoofline kernel;
    kernel.bytes_per_s = {2000 / 10e-9};
    kernel.flops_per_s = {500'000 / 10e-9};
    kernel.grids = 1;
    roofline_.kernels.push_back(kernel);
    stage_.parts = {{kGemm, 300, 150, kWeights}};
  }
  profile::KernelSaving found() {
    return kernel_savings(ranking_, opened_, 2, stage_, roofline_, &gpu_).at(0);
  }
  llm::GpuSpec gpu_;
  KernelRanking ranking_;
  std::vector<OpenedKernel> opened_;
  RankedRoofline roofline_;
  StageSavings stage_;
};

TEST_F(OwnFloors, AreByTheKernelsOwnBytesAndFlops) {
  EXPECT_NEAR(nanoseconds(found().floor), 15, 1e-9);
  EXPECT_EQ(found().floor_basis, profile::FloorBasis::own_counters);
  EXPECT_EQ(kinds_of(found().floor_rule_reasons), Kinds{"own_flops_at_peak"});
  EXPECT_EQ(number_of(found().floor_rule_reasons, "peak_flops"), 1e14);
  EXPECT_EQ(text_of(found().floor_rule_reasons, "format"), "f16");
  roofline_.kernels[0].bytes_per_s = {8000 / 10e-9};  // 8 ns
  EXPECT_NEAR(nanoseconds(found().floor), 24, 1e-9);
  EXPECT_EQ(kinds_of(found().floor_rule_reasons), Kinds{"own_bytes_at_peak"});
  EXPECT_EQ(number_of(found().floor_rule_reasons, "peak_bandwidth"), 1e12);
}

TEST_F(OwnFloors, UseThePeakOfWhatIsMultiplied) {
  profile::Metric operations;
  operations.mean = 1;
  ranking_.rows[0].metrics["sm__ops_path_tensor_src_fp8_dst_fp32.sum"] = operations;
  EXPECT_NEAR(nanoseconds(found().floor), 7.5, 1e-9);
}

TEST_F(OwnFloors, AreNeverAboveTheTime) {
  roofline_.kernels[0].bytes_per_s = {1'000'000 / 10e-9};
  EXPECT_DOUBLE_EQ(nanoseconds(found().floor), 300);
  EXPECT_DOUBLE_EQ(nanoseconds(found().saving), 0);
}

TEST_F(OwnFloors, AreOfLaunchesLikeTheMeasuredOnesOnly) {
  opened_[0].stages[0].steady_measured = 5;
  EXPECT_DOUBLE_EQ(nanoseconds(found().floor), 150);
  EXPECT_EQ(found().floor_basis, profile::FloorBasis::share_of_class);
  opened_[0].stages[0].steady_measured = 6;
  roofline_.kernels[0].grids = 2;
  EXPECT_EQ(found().floor_basis, profile::FloorBasis::share_of_class);
  roofline_.kernels[0].grids = 1;
  roofline_.kernels[0].flops_per_s.reset();
  EXPECT_EQ(found().floor_basis, profile::FloorBasis::share_of_class);
}

}  // namespace
}  // namespace llmprof::analysis
