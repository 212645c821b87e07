#include "analysis/counters/kernel_samples.h"

#include <gtest/gtest.h>

#include "testing/staged_trace.h"

namespace llmprof::analysis {
namespace {

// Samples of 100 ns from time 0: 10 bytes read and 5 written per sample, tensor cores 40 % active.
class KernelSamplesTest : public ::testing::Test {
 protected:
  void sample(Nanoseconds start, double read = 10, double tensor = 40) {
    t_.counter("dram__bytes_read.sum", "byte", start, start + 100, read);
    t_.counter("dram__bytes_write.sum", "byte", start, start + 100, 5);
    t_.counter("sm__pipe_tensor_cycles_active_realtime.avg.pct_of_peak_sustained_elapsed", "%",
               start, start + 100, tensor);
  }
  SampledRows sampled() {
    const trace::Trace& trace = t_.freeze();
    ranking_ = rank_kernels(trace, DescribedNames(trace, TestTrace::rules()));
    return sample_kernels(trace, ranking_).value_or(SampledRows());
  }
  [[nodiscard]] const KernelSamples& of(const SampledRows& found, std::string_view name) const {
    for (size_t i = 0; i < ranking_.rows.size(); ++i) {
      if (t_.trace().strings[ranking_.rows[i].name] == name) return found.rows[i];
    }
    ADD_FAILURE() << name;
    return found.rows.front();
  }

  TestTrace t_;
  KernelRanking ranking_;
};

TEST_F(KernelSamplesTest, ALongKernelOwnsTheSamplesThatItFills) {
  t_.kernel("gemm", 50, 390);  // half of the first sample, 90 % of the last
  for (Nanoseconds start = 0; start < 500; start += 100) sample(start, 10, start == 100 ? 70 : 40);
  const SampledRows found = sampled();
  EXPECT_EQ(found.samples, 5U);
  EXPECT_EQ(found.attributed_samples, 3U);
  EXPECT_EQ(to_nanoseconds(found.interval), 100);
  const KernelSamples& gemm = of(found, "gemm");
  EXPECT_EQ(gemm.samples, 3U);
  EXPECT_EQ(gemm.launches, 1U);
  EXPECT_EQ(gemm.time, 300);
  EXPECT_EQ(gemm.own, 290);
  EXPECT_DOUBLE_EQ(gemm.bytes, 45);
  EXPECT_DOUBLE_EQ(gemm.tensor_active.value_or(-1), 0.5);
}

TEST_F(KernelSamplesTest, ARunOfTheSameKernelOwnsASample) {
  for (Nanoseconds start = 0; start < 100; start += 10) t_.kernel("gemm", start, start + 9);
  t_.kernel("norm", 100, 150);
  t_.kernel("gemm", 150, 200);
  sample(0);
  sample(100);
  const SampledRows found = sampled();
  EXPECT_EQ(of(found, "gemm").samples, 1U);
  EXPECT_EQ(of(found, "gemm").own, 90);
  EXPECT_EQ(of(found, "gemm").launches, 10U);
  EXPECT_TRUE(of(found, "norm").met);
  EXPECT_EQ(of(found, "norm").samples, 0U);
}

// 89 % is too little.
TEST_F(KernelSamplesTest, ASampleThatNobodyFillsIsNobodys) {
  t_.kernel("gemm", 0, 89);
  t_.kernel("norm", 89, 100);
  sample(0);
  const SampledRows found = sampled();
  EXPECT_EQ(found.attributed_samples, 0U);
  EXPECT_TRUE(of(found, "gemm").met);
}

// Any work that overlaps a kernel, kernel or copy, may have moved the bytes.
TEST_F(KernelSamplesTest, AKernelBesideOthersIsNotAlone) {
  t_.kernel("gemm", 0, 300);
  t_.kernel("norm", 100, 150);
  t_.copy(200, 215);
  for (Nanoseconds start = 0; start < 300; start += 100) sample(start);
  const SampledRows found = sampled();
  EXPECT_EQ(of(found, "gemm").samples, 1U);
  EXPECT_EQ(of(found, "gemm").own, 100);
}

TEST_F(KernelSamplesTest, OverlappingLaunchesOfOneKernelAreAlone) {
  t_.kernel("gemm", 0, 60);
  t_.kernel("gemm", 40, 100);
  sample(0);
  EXPECT_EQ(of(sampled(), "gemm").own, 100);
}

TEST_F(KernelSamplesTest, WhatNoSampleMetIsUnsampled) {
  t_.kernel("gemm", 0, 100);
  t_.kernel("norm", 500, 600);
  sample(0);
  const SampledRows found = sampled();
  EXPECT_TRUE(of(found, "gemm").met);
  EXPECT_FALSE(of(found, "norm").met);
}

TEST_F(KernelSamplesTest, CountersOfAnotherGpuSayNothing) {
  t_.kernel("gemm", 0, 100, 0, 1);
  sample(0);
  const SampledRows found = sampled();
  EXPECT_EQ(found.samples, 1U);
  EXPECT_FALSE(of(found, "gemm").met);
}

TEST_F(KernelSamplesTest, WithoutTensorSamplesThereIsNoActivity) {
  t_.kernel("gemm", 0, 100);
  t_.counter("dram__bytes_read.sum", "byte", 0, 100, 10);
  t_.counter("dram__bytes_write.sum", "byte", 0, 100, 5);
  const SampledRows found = sampled();
  EXPECT_EQ(of(found, "gemm").samples, 1U);
  EXPECT_FALSE(of(found, "gemm").tensor_active.has_value());
}

TEST_F(KernelSamplesTest, NothingWithoutDramSamples) {
  t_.kernel("gemm", 0, 100);
  t_.counter("power", "W", 50, 50, 400);
  const trace::Trace& trace = t_.freeze();
  ranking_ = rank_kernels(trace, DescribedNames(trace, TestTrace::rules()));
  EXPECT_FALSE(sample_kernels(trace, ranking_).has_value());
}

}  // namespace
}  // namespace llmprof::analysis
