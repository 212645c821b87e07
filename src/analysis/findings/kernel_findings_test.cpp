#include <gtest/gtest.h>

#include "testing/findings_fixture.h"

namespace llmprof::analysis {
namespace {

TEST_F(Findings, CountSmallKernelsAndCopies) {
  t_.instance(t_.stage("decode"), 0, 1000);
  for (Nanoseconds step = 0; step < 2; ++step) {
    const Nanoseconds at = 500 * step;
    t_.step(at, at + 500);
    t_.launched("mul", 0, at, at + 20);
    t_.launched("norm", 0, at + 20, at + 60);
    t_.launched("cast", 0, at + 60, at + 100);
    t_.launched("gemm", 0, at + 100, at + 500);
  }
  const std::vector<Finding> findings = found();
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].kind, FindingKind::small_kernels);
  EXPECT_DOUBLE_EQ(nanoseconds(findings[0].saving), 120);
  EXPECT_DOUBLE_EQ(findings[0].share_of_wall.value, 0.12);
  EXPECT_DOUBLE_EQ(number(findings[0], "kernels_per_pass"), 2);
  EXPECT_DOUBLE_EQ(milliseconds(findings[0], "mean_kernel"), 30e-6);
  EXPECT_DOUBLE_EQ(milliseconds(findings[0], "kernel_time", "norm"), 80e-6);
  EXPECT_DOUBLE_EQ(milliseconds(findings[0], "kernel_time", "mul"), 40e-6);
  EXPECT_EQ(profile::find_value(findings[0].values, "kernel_time")->text, "norm");  // longest first
  EXPECT_EQ(profile::find_number(findings[0].values, "kernel_calls", "mul"), 2);
  EXPECT_EQ(findings[1].kind, FindingKind::copies_and_casts);
  EXPECT_EQ(text(findings[1], "concatenates"), "no");
  EXPECT_DOUBLE_EQ(nanoseconds(findings[1].saving), 80);
}

TEST_F(Findings, HoldProductsAgainstTheirFloor) {
  t_.instance(t_.stage("prefill"), 0, 1000);
  t_.launched("gemm", 0, 0, 1000);
  StageUtilization stage;
  stage.peak_flops = 1e12;  // 1000 FLOP per ns
  stage.peak_bandwidth = 1e12;
  stage.peak_name = "bf16 dense";
  stage.cost.parts = {{"feed-forward", 600000, 1000, 0}};
  stage.floor = 600;
  UseOfPeaks utilization;
  utilization.stages.push_back(stage);
  const std::vector<Finding> findings = found(utilization);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].kind, FindingKind::gemm_above_floor);
  EXPECT_DOUBLE_EQ(nanoseconds(findings[0].saving), 400);
  EXPECT_DOUBLE_EQ(milliseconds(findings[0], "time"), 1000e-6);
  EXPECT_DOUBLE_EQ(milliseconds(findings[0], "floor"), 600e-6);
  // The report writes the rule's text.
  ASSERT_EQ(findings[0].value_reasons.size(), 1U);
  const profile::FindingValueReasons& rule = findings[0].value_reasons[0];
  EXPECT_EQ(findings[0].values.at(rule.value).name, "floor_rule");
  EXPECT_EQ(testing::kinds_of(rule.reasons).size(), 1U);
  EXPECT_DOUBLE_EQ(number(findings[0], "time_over_floor"), 1000 / 600.0);
  EXPECT_EQ(text(findings[0], "bound_by"), "compute");
  EXPECT_FALSE(findings[0].saving_per_token);
}

TEST_F(Findings, TellExposedCommunication) {
  t_.instance(t_.stage("decode"), 0, 1000);
  t_.launched("gemm", 0, 0, 900);
  t_.launched("all_reduce", 0, 800, 1000);
  const std::vector<Finding> findings = found();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_DOUBLE_EQ(nanoseconds(findings[0].saving), 100);
  EXPECT_EQ(findings[0].kind, FindingKind::exposed_communication);
  EXPECT_DOUBLE_EQ(milliseconds(findings[0], "communication_time"), 200e-6);
}

// Measured at 30 % of its nearer roof: 70 % of its 500 ns are above it.
TEST_F(Findings, TellLatencyBoundKernels) {
  t_.instance(t_.stage("decode"), 0, 1000);
  t_.launched("gemm", 0, 0, 500);
  t_.launched("gemm2", 0, 500, 1000);
  RankedRoofline roofline;
  KernelRoofline kernel;
  kernel.row = 1;
  kernel.compute_share_of_peak = {0.1};
  kernel.memory_share_of_peak = {0.3};
  kernel.bound = Bound::latency;
  roofline.kernels.push_back(kernel);
  measured_ = true;
  const std::vector<Finding> findings = found({}, roofline);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_DOUBLE_EQ(nanoseconds(findings[0].saving), 350);
  EXPECT_EQ(findings[0].kind, FindingKind::latency_bound_kernels);
  EXPECT_DOUBLE_EQ(number(findings[0], "kernel_names"), 1);
  EXPECT_DOUBLE_EQ(number(findings[0], "launches_measured"), 1);
  EXPECT_DOUBLE_EQ(number(findings[0], "launches"), 1);
  EXPECT_DOUBLE_EQ(share(findings[0], "kernel_share_of_roof", "gemm2"), 0.3);
}

// 8 layers: top-k in each layer chooses experts, the one after them a token.
TEST_F(Findings, TellExpertsFromTokensByTheirNumber) {
  t_.instance(t_.stage("decode"), 0, 1000);
  t_.step(0, 1000);
  for (Nanoseconds at = 0; at < 800; at += 100) {
    t_.launched("attention", 0, at, at + 80);
    t_.launched("topk", 0, at + 80, at + 100);
  }
  t_.launched("gemm", 0, 800, 1000);
  const std::vector<Finding> findings = found();
  EXPECT_EQ(first(findings, FindingKind::token_selection), nullptr);
  const Finding* routing = first(findings, FindingKind::expert_routing);
  ASSERT_NE(routing, nullptr);
  EXPECT_DOUBLE_EQ(nanoseconds(routing->saving), 160);
}

// Advice must fit the program: torch.compile's kernels show that it is already used.
TEST_F(Findings, TellThatTheProgramIsCompiled) {
  t_.instance(t_.stage("decode"), 0, 1000);
  t_.launched("triton_poi_fused_add_mul_0", 0, 0, 100);
  t_.launched("norm", 0, 100, 200);
  t_.launched("gemm", 0, 200, 1000);
  const std::vector<Finding> findings = found();
  const Finding* small = first(findings, FindingKind::small_kernels);
  ASSERT_NE(small, nullptr);
  EXPECT_EQ(text(*small, "compiled"), "yes");
  EXPECT_EQ(text(*small, "framework"), "PyTorch");
  EXPECT_EQ(text(*small, "engine"), "(missing)");
}

}  // namespace
}  // namespace llmprof::analysis
