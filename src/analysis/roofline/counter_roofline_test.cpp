#include "analysis/roofline/roofline.h"

#include <gtest/gtest.h>

#include "testing/reasons.h"
#include "testing/staged_trace.h"

namespace llmprof::analysis {
namespace {

using testing::Kinds;
using testing::kinds_of;
using testing::number_of;

// Samples of 100 ns. At its peaks, the GPU moves 1000 bytes and does 1e6 bf16 FLOPs in that time.
class CounterRooflineTest : public ::testing::Test {
 protected:
  CounterRooflineTest() {
    llm::GpuSpec gpu;
    gpu.memory_bandwidth = 1000 / 100e-9;
    gpu.tensor_bf16 = 1e6 / 100e-9;
    use_.gpu = gpu;
    llm::ModelSpec model;
    model.weights.name = "bf16";
    use_.model = model;
  }
  void sample(Nanoseconds start, double bytes, double tensor_percent) {
    t_.counter("dram__bytes_read.sum", "byte", start, start + 100, bytes);
    t_.counter("dram__bytes_write.sum", "byte", start, start + 100, 0);
    t_.counter("sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", "%", start,
               start + 100, tensor_percent);
  }
  RankedRoofline placed() {
    const trace::Trace& trace = t_.freeze();
    ranking_ = rank_kernels(trace, DescribedNames(trace, TestTrace::rules()));
    RankedRoofline roofline = kernel_roofline(ranking_);
    place_by_counters(trace, ranking_, use_, roofline);
    return roofline;
  }
  KernelRoofline only() {
    const RankedRoofline roofline = placed();
    EXPECT_EQ(roofline.kernels.size(), 1U);
    return roofline.kernels.empty() ? KernelRoofline() : roofline.kernels[0];
  }

  TestTrace t_;
  UseOfPeaks use_;
  KernelRanking ranking_;
};

TEST_F(CounterRooflineTest, FlopsAreActivityTimesThePeakOfTheFormat) {
  t_.kernel("gemm", 0, 200);
  sample(0, 400, 70);
  sample(100, 200, 80);
  const RankedRoofline roofline = placed();
  ASSERT_EQ(roofline.kernels.size(), 1U);
  const KernelRoofline& gemm = roofline.kernels[0];
  EXPECT_EQ(gemm.source, RooflineSource::counters);
  EXPECT_DOUBLE_EQ(gemm.bytes_per_s->value, 600 / 200e-9);
  EXPECT_DOUBLE_EQ(gemm.flops_per_s->value, 0.75 * 1e6 / 100e-9);
  EXPECT_DOUBLE_EQ(gemm.flops_per_byte->value, gemm.flops_per_s->value / gemm.bytes_per_s->value);
  EXPECT_DOUBLE_EQ(gemm.compute_share_of_peak->value, 0.75);
  EXPECT_DOUBLE_EQ(gemm.memory_share_of_peak->value, 0.30);
  EXPECT_EQ(gemm.bound, Bound::compute);
  EXPECT_EQ(gemm.samples, 2U);
  EXPECT_EQ(gemm.peak_name, "bf16 dense");
  EXPECT_EQ(gemm.number_format_source, profile::NumberFormatSource::model);
  EXPECT_EQ(kinds_of(roofline.rule), Kinds{"bound_by_counters"});
  EXPECT_TRUE(roofline.missing.empty());
}

TEST_F(CounterRooflineTest, WithoutTensorActivityThereIsABandwidthAlone) {
  t_.kernel("gemm", 0, 100);
  sample(0, 900, 0);
  const KernelRoofline gemm = only();
  EXPECT_TRUE(gemm.bytes_per_s.has_value());
  EXPECT_FALSE(gemm.flops_per_s.has_value());
  EXPECT_FALSE(gemm.flops_per_byte.has_value());
  EXPECT_FALSE(gemm.compute_share_of_peak.has_value());
  EXPECT_EQ(gemm.why_no_flops, WhyNoFlops::no_tensor_activity);
  EXPECT_EQ(gemm.bound, Bound::memory);
}

// The other kernel's 8 % of the sample could account for all of the activity.
TEST_F(CounterRooflineTest, ActivityThatOthersMayHaveCausedIsNotTheKernels) {
  t_.kernel("gemm", 0, 92);
  t_.kernel("gemm2", 92, 100);
  sample(0, 900, 8);
  EXPECT_EQ(only().why_no_flops, WhyNoFlops::no_tensor_activity);
}

TEST_F(CounterRooflineTest, ClassesThatMultiplyNothingHaveNoFlops) {
  t_.kernel("norm", 0, 100);
  sample(0, 900, 50);
  EXPECT_EQ(only().why_no_flops, WhyNoFlops::no_tensor_activity);
}

TEST_F(CounterRooflineTest, AnUnknownFormatHasNoFlops) {
  use_.model.reset();
  t_.kernel("gemm", 0, 100);
  sample(0, 100, 50);
  const KernelRoofline gemm = only();
  EXPECT_EQ(gemm.why_no_flops, WhyNoFlops::format_unknown);
  EXPECT_FALSE(gemm.flops_per_s.has_value());
  EXPECT_EQ(gemm.bound, Bound::unknown);  // never latency: other units are not sampled
}

TEST_F(CounterRooflineTest, AnUnknownGpuHasBytesAlone) {
  use_.gpu.reset();
  t_.kernel("gemm", 0, 100);
  sample(0, 100, 50);
  const KernelRoofline gemm = only();
  EXPECT_EQ(gemm.why_no_flops, WhyNoFlops::peak_unknown);
  EXPECT_FALSE(gemm.memory_share_of_peak.has_value());
}

TEST_F(CounterRooflineTest, ShortKernelsAreCounted) {
  for (Nanoseconds start = 0; start < 300; start += 100) {
    t_.kernel("gemm", start, start + 40);
    t_.kernel("norm", start + 40, start + 80);
    sample(start, 100, 50);
  }
  t_.kernel("attention", 500, 900);
  const RankedRoofline roofline = placed();
  EXPECT_TRUE(roofline.kernels.empty());
  ASSERT_TRUE(roofline.sampled.has_value());
  EXPECT_EQ(roofline.sampled->samples, 3U);
  EXPECT_EQ(roofline.sampled->attributed_samples, 0U);
  EXPECT_EQ(roofline.sampled->kernels_too_short, 2U);
  EXPECT_EQ(roofline.sampled->kernels_unsampled, 1U);
  EXPECT_EQ(kinds_of(roofline.missing), (Kinds{"no_kernel_metrics", "shorter_than_samples"}));
  EXPECT_EQ(kinds_of(roofline.rule), Kinds{"bound_by_ncu"});
  EXPECT_EQ(number_of({roofline.missing[1]}, "kernels_without"), 2);
  EXPECT_EQ(number_of({roofline.missing[1]}, "kernels"), 3);
}

std::optional<TensorFormat> format_of_kernel(std::string_view name,
                                             const std::optional<llm::ModelSpec>& model) {
  static const auto rules = KernelRules::load({});
  return tensor_format(rules->describe(name), name, model);
}

TEST(TensorFormat, NamesTellWhatIsMultiplied) {
  const auto format = [](std::string_view name) {
    const auto found = format_of_kernel(name, std::nullopt);
    return found ? found->name : "";
  };
  EXPECT_EQ(format("nvjet_sm90_tst_64x8_64x16_2x1_v_bz_TNT"), "bf16");
  EXPECT_EQ(format("nvjet_hsh_128x256_64x4_1x2_h_bz_NNT"), "f16");
  EXPECT_EQ(format("nvjet_sm90_qqtst_128x256_128x4_1x2_h_bz_TNT"), "fp8");
  EXPECT_EQ(format("nvjet_"), "");
  EXPECT_EQ(format("nvjet_sm90"), "");
  EXPECT_EQ(format("void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x128>"
                   "(cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x128::Params)"),
            "bf16");
  EXPECT_EQ(format("ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_tn"), "f16");
  EXPECT_EQ(format("sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x32"), "tf32");
  EXPECT_EQ(format("void flash_fwd_kernel<Flash_fwd_kernel_traits<128, 64, 64, 4, false, false, "
                   "cutlass::bfloat16_t>>(Flash_fwd_params)"),
            "bf16");
  EXPECT_EQ(format("void mul_mat<__nv_fp8_e4m3>(int)"), "fp8");
  EXPECT_EQ(format("ncclDevKernel_AllReduce"), "");
}

TEST(TensorFormat, ElseTheModelTells) {
  llm::ModelSpec model;
  model.weights.name = "fp8";
  EXPECT_EQ(format_of_kernel("gemm", model)->name, "fp8");
  EXPECT_TRUE(format_of_kernel("gemm", model)->by_model);
  EXPECT_FALSE(format_of_kernel("nvjet_tst_64x8", model)->by_model);
  model.weights.name = "f32";
  EXPECT_EQ(format_of_kernel("gemm", model)->name, "tf32");
  model.experts = llm::NumberFormat{};
  model.experts->name = "nvfp4";
  EXPECT_FALSE(format_of_kernel("gemm", model).has_value());
}

TEST(TensorPeaks, AreDenseAndNamed) {
  llm::GpuSpec gpu;
  gpu.tensor_bf16 = 989e12;
  gpu.tensor_fp8 = 1979e12;
  gpu.fp32 = 67e12;
  EXPECT_EQ(tensor_peak(gpu, "fp8")->name, "fp8 dense");
  EXPECT_DOUBLE_EQ(tensor_peak(gpu, "fp8")->flops, 1979e12);
  EXPECT_EQ(tensor_peak(gpu, "f16")->name, "fp16 dense");
  EXPECT_DOUBLE_EQ(tensor_peak(gpu, "int4")->flops, 989e12);
  EXPECT_FALSE(tensor_peak(gpu, "tf32").has_value());
  gpu.tensor_tf32 = 494e12;
  EXPECT_EQ(tensor_peak(gpu, "tf32")->name, "tf32 dense");
}

}  // namespace
}  // namespace llmprof::analysis
