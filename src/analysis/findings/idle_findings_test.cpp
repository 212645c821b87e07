#include <gtest/gtest.h>

#include "testing/findings_fixture.h"

namespace llmprof::analysis {
namespace {

// Four steps of 1000 ns with 5 kernels of 20 ns each. Every launch is called 150 ns after the
// previous kernel ended, and its kernel starts 30 ns later.
TEST_F(Findings, TellLaunchBoundDecode) {
  t_.instance(t_.stage("decode"), 0, 4000);
  Nanoseconds at = 0;
  for (int step = 0; step < 4; ++step) {
    t_.step(at, at + 1000);
    for (int i = 0; i < 5; ++i) {
      t_.launched("gemm", at + 150, at + 180, at + 200);
      at += 200;
    }
  }
  const std::vector<Finding> findings = found();
  // 20 gaps, the first at the edge: 16 inside steps and 3 between steps, each 180.
  const Finding* launch = first(findings, FindingKind::launch_bound);
  ASSERT_NE(launch, nullptr);
  EXPECT_DOUBLE_EQ(nanoseconds(launch->saving), 16 * 180);
  EXPECT_DOUBLE_EQ(nanoseconds(launch->saving_per_token), 16 * 180 / 4.0);
  EXPECT_DOUBLE_EQ(launch->share_of_wall.value, 16 * 180 / 4000.0);
  EXPECT_EQ(launch->stage, "decode");
  EXPECT_EQ(launch->unit, "request");
  EXPECT_DOUBLE_EQ(number(*launch, "kernels_per_pass"), 5);
  EXPECT_EQ(text(*launch, "pass"), "step");
  EXPECT_DOUBLE_EQ(share(*launch, "share_in_graphs"), 0);
  EXPECT_EQ(text(*launch, "graphs_used"), "no");
  EXPECT_EQ(text(*launch, "decodes"), "yes");
  const Finding* between = first(findings, FindingKind::gap_between_steps);
  ASSERT_NE(between, nullptr);
  EXPECT_DOUBLE_EQ(nanoseconds(between->saving), 3 * 180);
  EXPECT_DOUBLE_EQ(number(*between, "steps_per_instance"), 4);
  EXPECT_DOUBLE_EQ(milliseconds(*between, "gap_per_step"), 3 * 180e-6 / 4);
  EXPECT_EQ(&findings.front(), launch);
}

// A graph of 3 kernels per step, launched late.
TEST_F(Findings, PointOutsideOfGraphsWhereGraphsAreUsed) {
  t_.instance(t_.stage("decode"), 0, 3000);
  for (Nanoseconds at = 0; at < 3000; at += 1000) {
    t_.step(at, at + 1000);
    t_.launched("mul", at, at, at + 10);
    const uint32_t graph = t_.call("cudaGraphLaunch_v10000", at + 300, at + 400);
    for (Nanoseconds node = 0; node < 3; ++node) {
      t_.kernel("gemm", at + 400 + 200 * node, at + 600 + 200 * node, graph);
    }
  }
  const std::vector<Finding> findings = found();
  const Finding* launch = first(findings, FindingKind::launch_bound);
  ASSERT_NE(launch, nullptr);
  EXPECT_DOUBLE_EQ(share(*launch, "share_in_graphs"), 0.75);
  EXPECT_EQ(text(*launch, "graphs_used"), "yes");
}

TEST_F(Findings, NameTheSynchronisingCall) {
  t_.instance(t_.stage("decode"), 0, 1000);
  t_.launched("gemm", 0, 0, 100);
  t_.copy(100, 110, t_.call("cudaMemcpyAsync", 2, 5));
  t_.call("cudaStreamSynchronize_v3020", 6, 600);
  t_.launched("gemm", 600, 610, 1000);
  const std::vector<Finding> findings = found();
  const Finding* wait = first(findings, FindingKind::synchronization);
  ASSERT_NE(wait, nullptr);
  EXPECT_DOUBLE_EQ(nanoseconds(wait->saving), 490);
  EXPECT_DOUBLE_EQ(milliseconds(*wait, "longest_gap"), 500e-6);
  ASSERT_EQ(wait->value_reasons.size(), 1U);
  EXPECT_EQ(wait->values.at(wait->value_reasons[0].value).name, "host");
  EXPECT_EQ(testing::text_of(wait->value_reasons[0].reasons, "call"), "cudaStreamSynchronize");
  EXPECT_EQ(text(*wait, "work_before"), "copy Device-to-Host");
}

// 60 gaps of 10 ns and two stalls of 3000 and 2000 before attention.
TEST_F(Findings, TellAStallApartFromLateLaunches) {
  t_.instance(t_.stage("decode"), 0, 10000);
  Nanoseconds at = 0;
  for (const Nanoseconds stall : {3000, 2000}) {
    for (int i = 0; i < 30; ++i) {
      t_.launched("gemm", at - 2, at, at + 50);
      at += 60;
    }
    at += stall - 10;
    t_.launched("attention", at - 2, at, at + 10);
    at += 20;
  }
  t_.launched("gemm", at - 2, at, 10000);
  const std::vector<Finding> findings = found();
  const Finding* stall = first(findings, FindingKind::host_stall_repeated);
  ASSERT_NE(stall, nullptr);
  EXPECT_DOUBLE_EQ(nanoseconds(stall->saving), 5000);
  EXPECT_DOUBLE_EQ(number(*stall, "gaps"), 2);
  EXPECT_DOUBLE_EQ(milliseconds(*stall, "mean_gap"), 2500e-6);
  EXPECT_EQ(text(*stall, "work_before"), "gemm");
  EXPECT_EQ(text(*stall, "work_after"), "attention");
  EXPECT_EQ(stall->subject, "gemm -> attention");
  // 29 gaps of 10 twice, and one after each attention.
  const Finding* launch = first(findings, FindingKind::launch_bound);
  ASSERT_NE(launch, nullptr);
  EXPECT_DOUBLE_EQ(nanoseconds(launch->saving), 600);
}

// Two prefills with 20 gaps of 10 ns each, except one gap of 2000 ns in the second.
TEST_F(Findings, TellASingleStallAsOne) {
  const uint32_t prefill = t_.stage("prefill");
  Nanoseconds at = 0;
  for (const Nanoseconds stall : {0, 2000}) {
    t_.instance(prefill, at, at + 21 * 60 - 10 + stall);
    for (int i = 0; i < 20; ++i) {
      t_.launched("gemm", at - 2, at, at + 50);
      at += 60;
    }
    at += stall;
    t_.launched("attention", at - 2, at, at + 50);
    at += 50;
  }
  const std::vector<Finding> findings = found();
  const Finding* stall = first(findings, FindingKind::host_stall_single);
  ASSERT_NE(stall, nullptr);
  EXPECT_DOUBLE_EQ(nanoseconds(stall->total_saving), 2010);
  EXPECT_DOUBLE_EQ(nanoseconds(stall->saving), 1005);
  EXPECT_DOUBLE_EQ(number(*stall, "stalls"), 1);
  EXPECT_DOUBLE_EQ(number(*stall, "instances_with_stall"), 1);
  EXPECT_DOUBLE_EQ(number(*stall, "instances"), 2);
  EXPECT_DOUBLE_EQ(milliseconds(*stall, "longest_gap"), 2010e-6);
  EXPECT_EQ(text(*stall, "work_after"), "attention");
  const Finding* waits = first(findings, FindingKind::launch_bound);
  ASSERT_NE(waits, nullptr);
  EXPECT_DOUBLE_EQ(nanoseconds(waits->total_saving), 390);
  EXPECT_EQ(text(*waits, "decodes"), "no");
}

// Two decodes with 20 gaps of 10 ns; one has 2000 ns before attention, the other 3000 before norm.
TEST_F(Findings, CountSeveralSingleStalls) {
  const uint32_t decode = t_.stage("decode");
  Nanoseconds at = 0;
  for (const auto& [stall, name] : {std::pair<Nanoseconds, const char*>(2000, "attention"),
                                    std::pair<Nanoseconds, const char*>(3000, "norm")}) {
    t_.instance(decode, at, at + 21 * 60 - 10 + stall);
    for (int i = 0; i < 20; ++i) {
      t_.launched("gemm", at - 2, at, at + 50);
      at += 60;
    }
    at += stall;
    t_.launched(name, at - 2, at, at + 50);
    at += 50;
  }
  const std::vector<Finding> findings = found();
  const Finding* stall = first(findings, FindingKind::host_stall_single);
  ASSERT_NE(stall, nullptr);
  EXPECT_DOUBLE_EQ(nanoseconds(stall->total_saving), 2010 + 3010);
  EXPECT_DOUBLE_EQ(number(*stall, "stalls"), 2);
  EXPECT_DOUBLE_EQ(number(*stall, "instances_with_stall"), 2);
  EXPECT_DOUBLE_EQ(milliseconds(*stall, "stalled"), (2010 + 3010) * 1e-6);
  EXPECT_DOUBLE_EQ(milliseconds(*stall, "longest_gap"), 3010e-6);
  EXPECT_EQ(text(*stall, "work_after"), "norm");
}

TEST_F(Findings, CountTheOnlyInstance) {
  t_.instance(t_.stage("prefill"), 0, 21 * 60 - 10 + 2000);
  Nanoseconds at = 0;
  for (int i = 0; i < 20; ++i) {
    t_.launched("gemm", at - 2, at, at + 50);
    at += 60;
  }
  at += 2000;
  t_.launched("attention", at - 2, at, at + 50);
  const std::vector<Finding> findings = found();
  const Finding* stall = first(findings, FindingKind::host_stall_single);
  ASSERT_NE(stall, nullptr);
  EXPECT_DOUBLE_EQ(number(*stall, "instances_with_stall"), 1);
  EXPECT_DOUBLE_EQ(number(*stall, "instances"), 1);
}

// Launched at 0 (the call returns after 2 ns), started 3 ms later although nothing in the capture
// ran. The stream had been free long before, so work launched before recording cannot be the cause.
TEST_F(Findings, DoNotBlameTheStageForAGpuThatWasNotFree) {
  constexpr Nanoseconds kMs = 1'000'000;
  t_.launched("norm", -9 * kMs, -9 * kMs, -9 * kMs + 1);
  t_.instance(t_.stage("decode"), 0, 4 * kMs);
  t_.launched("gemm", 0, 3 * kMs, 4 * kMs);
  const std::vector<Finding> findings = found();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].kind, FindingKind::first_work_queued);
  EXPECT_DOUBLE_EQ(nanoseconds(findings[0].saving), 3 * kMs - 2);
}

// If no time without tracing is known, idle time is not attributed to the program alone.
TEST_F(Findings, MarkIdleTimeThatIncludesTracing) {
  for (const auto& [why_not, included] :
       {std::pair{std::optional(NoUntracedTime::no_other_time), true},
        std::pair{std::optional<NoUntracedTime>(), false}}) {
    t_ = TestTrace();
    untraced_.assign(1, {});
    untraced_[0].why_not = why_not;
    t_.instance(t_.stage("decode"), 0, 1000);
    t_.launched("gemm", 0, 0, 400);
    t_.launched("norm", 700, 710, 1000);
    const std::vector<Finding> findings = found();
    const Finding* waits = first(findings, FindingKind::launch_bound);
    ASSERT_NE(waits, nullptr);
    EXPECT_EQ(profile::has_flag(waits->values, profile::kTracingIncluded), included);
    const Finding* small = first(findings, FindingKind::small_kernels);
    ASSERT_NE(small, nullptr);
    EXPECT_FALSE(profile::has_flag(small->values, profile::kTracingIncluded));
  }
}

}  // namespace
}  // namespace llmprof::analysis
