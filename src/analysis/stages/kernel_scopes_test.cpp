#include "analysis/stages/kernel_scopes.h"

#include <gtest/gtest.h>

#include "testing/staged_trace.h"

namespace llmprof::analysis {
namespace {

TEST(KernelScopes, HoldEveryKernelOnce) {
  TestTrace t;
  t.outside();
  t.kernel("gemm", 0, 10);
  const uint32_t stage = t.stage("prefill");
  t.instance(stage, 20, 40).warmup = true;
  t.kernel("gemm", 20, 40);
  t.outside();
  t.kernel("gemm", 45, 48);
  t.instance(stage, 50, 90);
  t.kernel("gemm", 50, 80);
  t.kernel("gemm", 80, 85);
  t.outside();
  t.kernel("gemm", 100, 107);
  t.kernel("gemm", 110, 111, 0, 1);  // a device without stages
  const ScopeTotals totals = total_by_scope(t.freeze(), t.stages());
  const auto of = [&](KernelScope scope) { return totals[static_cast<size_t>(scope)]; };
  EXPECT_EQ(of(KernelScope::measured).calls, 2U);
  EXPECT_EQ(of(KernelScope::measured).total, 35);
  EXPECT_EQ(of(KernelScope::warmup).total, 20);
  EXPECT_EQ(of(KernelScope::initialization).total, 10);
  EXPECT_EQ(of(KernelScope::outside).calls, 3U);
  EXPECT_EQ(of(KernelScope::outside).total, 3 + 7 + 1);
}

// A compiler tries kernels in the first request, filling the cache before each; requests fill
// nothing. A scan over tokens is a burst in every request.
TEST(KernelScopes, SeparateAutotuningFromWhatRequestsRepeat) {
  TestTrace t;
  const uint32_t stage = t.stage("prefill");
  Nanoseconds now = 0;
  const auto burst = [&](std::string_view name, int times) {
    for (int i = 0; i < times; ++i, now += 2) t.kernel(name, now, now + 1);
  };
  const auto request = [&] {
    burst("scan", 40);
    burst("gemm", 1);
  };
  t.outside();
  burst("fill", 100);  // weights
  t.instance(stage, now, now + 1000).warmup = true;
  for (int i = 0; i < 50; ++i) {
    burst("fill", 1);
    burst("gemm", 1);
  }
  request();
  for (int i = 0; i < 2; ++i) {
    t.instance(stage, now, now + 82);
    request();
  }
  const ScopeTotals totals = total_by_scope(t.freeze(), t.stages());
  const auto kernels = [&](KernelScope scope) { return totals[static_cast<size_t>(scope)].calls; };
  EXPECT_EQ(kernels(KernelScope::initialization), 100U);
  EXPECT_EQ(kernels(KernelScope::autotuning), 100U);
  EXPECT_EQ(kernels(KernelScope::warmup), 41U);
  EXPECT_EQ(kernels(KernelScope::measured), 82U);
  EXPECT_EQ(kernels(KernelScope::outside), 0U);
}

}  // namespace
}  // namespace llmprof::analysis
