#include "analysis/stages/kernel_scopes.h"

#include <gtest/gtest.h>

#include "analysis/budget/test_trace.h"

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
  EXPECT_EQ(of(KernelScope::measured).kernels, 2U);
  EXPECT_EQ(of(KernelScope::measured).time, 35);
  EXPECT_EQ(of(KernelScope::warmup).time, 20);
  EXPECT_EQ(of(KernelScope::initialization).time, 10);
  EXPECT_EQ(of(KernelScope::outside).kernels, 3U);
  EXPECT_EQ(of(KernelScope::outside).time, 3 + 7 + 1);
}

}  // namespace
}  // namespace llmprof::analysis
