#include "analysis/findings/findings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "testing/reasons.h"
#include "testing/staged_trace.h"

namespace llmprof::analysis {
namespace {

using profile::FindingKind;

class Findings : public ::testing::Test {
 protected:
  std::vector<Finding> found(const UseOfPeaks& utilization = {},
                             const RankedRoofline& roofline = {}) {
    const Budgets budgets = t_.budgets();
    KernelRanking ranking =
        rank_kernels(t_.trace(), DescribedNames(t_.trace(), TestTrace::rules()));
    ranking.measured_kernels.assign(t_.trace().kernels.size(), measured_);
    const auto savings = stage_savings(t_.stages(), budgets, utilization);
    const profile::Engine engine;
    auto findings =
        find_findings({t_.trace(), t_.stages(), budgets, savings, utilization, ranking, roofline,
                       selection_, counters_, engine, untraced_.empty() ? nullptr : &untraced_});
    EXPECT_TRUE(std::is_sorted(findings.begin(), findings.end(), [](const auto& a, const auto& b) {
      if (!a.saving != !b.saving) return !a.saving;
      return a.total_saving > b.total_saving;
    }));
    for (const Finding& finding : findings) {
      const auto& kind = profile::kWords<FindingKind>[static_cast<size_t>(finding.kind)];
      EXPECT_GE(finding.share_of_wall.value, 0.01) << kind.name;
      for (const std::string_view name : kind.values) {
        EXPECT_NE(profile::find_value(finding.values, name), nullptr) << kind.name << ": " << name;
      }
    }
    return findings;
  }
  static const Finding* first(const std::vector<Finding>& findings, FindingKind kind) {
    for (const Finding& finding : findings) {
      if (finding.kind == kind) return &finding;
    }
    return nullptr;
  }
  static double nanoseconds(const std::optional<profile::Milliseconds>& time) {
    return time ? time->value * kNanosecondsPerMillisecond : std::nan("");
  }
  static double number(const Finding& finding, std::string_view name) {
    return profile::find_number(finding.values, name).value_or(std::nan(""));
  }
  static double milliseconds(const Finding& finding, std::string_view name,
                             std::optional<std::string_view> of = std::nullopt) {
    return testing::find_quantity<profile::Unit::milliseconds>(finding.values, name, of)
        .value_or(profile::Milliseconds{std::nan("")})
        .value;
  }
  static double share(const Finding& finding, std::string_view name,
                      std::optional<std::string_view> of = std::nullopt) {
    return testing::find_quantity<profile::Unit::share>(finding.values, name, of)
        .value_or(profile::Share{std::nan("")})
        .value;
  }
  static std::string text(const Finding& finding, std::string_view name) {
    return profile::find_text(finding.values, name).value_or("(missing)");
  }

  TestTrace t_;
  profile::Selection selection_;
  std::vector<StageUntraced> untraced_;  // empty: no times are traced
  Counters counters_;
  bool measured_ = false;  // a profiler measured every kernel
};

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

// 800 of 1000 ns busy at three quarters of the highest clock.
TEST_F(Findings, TellClocksThatHeatOrPowerLower) {
  t_.instance(t_.stage("decode"), 0, 1000);
  t_.launched("gemm", 0, 0, 800);
  t_.stages().stages[0].busy = summarize({800});
  profile::Measured decode;
  decode.sm_clock = {{1500e6}, {1400e6}, {1980e6}, 8};
  decode.highest_sm_clock = {2000e6};
  decode.throttle_reasons = {{"power cap", true, {0.5}},
                             {"thermal slowdown (hardware)", true, {0.25}},
                             {"GPU idle", false, {0.1}}};
  counters_.stages = {decode};
  const std::vector<Finding> findings = found();
  const Finding* clocks = first(findings, FindingKind::low_clocks);
  ASSERT_NE(clocks, nullptr);
  EXPECT_DOUBLE_EQ(nanoseconds(clocks->saving), 200);
  const auto clock = [&](std::string_view name) {
    return testing::find_quantity<profile::Unit::hertz>(clocks->values, name)->value;
  };
  EXPECT_DOUBLE_EQ(clock("mean_clock"), 1500e6);
  EXPECT_DOUBLE_EQ(clock("lowest_clock"), 1400e6);
  EXPECT_DOUBLE_EQ(clock("highest_clock"), 1980e6);
  EXPECT_DOUBLE_EQ(clock("maximum_clock"), 2000e6);
  EXPECT_DOUBLE_EQ(number(*clocks, "samples"), 8);
  EXPECT_DOUBLE_EQ(share(*clocks, "slowed_by", "power cap"), 0.5);
  EXPECT_DOUBLE_EQ(share(*clocks, "slowed_by", "thermal slowdown (hardware)"), 0.25);
  const auto reasons = std::count_if(clocks->values.begin(), clocks->values.end(),
                                     [](const auto& value) { return value.name == "slowed_by"; });
  EXPECT_EQ(reasons, 2);  // an idle GPU is not a reason
}

TEST_F(Findings, LeaveUsualClocksAlone) {
  t_.instance(t_.stage("decode"), 0, 1000);
  t_.launched("gemm", 0, 0, 800);
  t_.stages().stages[0].busy = summarize({800});
  profile::Measured decode;
  decode.sm_clock = {{1900e6}, {1850e6}, {1980e6}, 8};
  decode.highest_sm_clock = {2000e6};
  decode.throttle_reasons = {{"power cap", true, {0.01}}};
  counters_.stages = {decode};
  EXPECT_EQ(first(found(), FindingKind::low_clocks), nullptr);
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

// 80 ns of norm in two steps of one decode.
TEST_F(Findings, SayWhatANarrowedInstanceIs) {
  t_.instance(t_.stage("decode"), 0, 1000);
  for (Nanoseconds at = 0; at < 1000; at += 500) {
    t_.step(at, at + 500);
    t_.launched("norm", 0, at, at + 40);
    t_.launched("gemm", 0, at + 40, at + 500);
  }
  selection_.stage = "decode";
  const std::vector<Finding> of_stage = found();
  ASSERT_EQ(of_stage.size(), 1U);
  EXPECT_EQ(of_stage[0].unit, "decode");
  EXPECT_DOUBLE_EQ(nanoseconds(of_stage[0].saving), 80);
  EXPECT_DOUBLE_EQ(of_stage[0].share_of_wall.value, 0.08);
}

TEST_F(Findings, SayWhatSomeStepsAre) {
  t_.instance(t_.stage("decode"), 0, 1000);
  for (Nanoseconds at = 0; at < 1000; at += 500) {
    t_.step(at, at + 500);
    t_.launched("norm", 0, at, at + 40);
    t_.launched("gemm", 0, at + 40, at + 500);
  }
  selection_.steps = {4, 6};
  const std::vector<Finding> of_steps = found();
  ASSERT_EQ(of_steps.size(), 1U);
  EXPECT_EQ(of_steps[0].unit, "2 steps");
  EXPECT_DOUBLE_EQ(nanoseconds(of_steps[0].saving), 80);
  EXPECT_EQ(text(of_steps[0], "pass"), "step");
  EXPECT_DOUBLE_EQ(number(of_steps[0], "kernels_per_pass"), 1);
}

// A detected prefill has one step; kernel counts and advice are per request.
TEST_F(Findings, SpeakOfPrefillAsOfAPass) {
  t_.instance(t_.stage("prefill"), 0, 400);
  t_.step(0, 400).kind = StepKind::prefill;
  for (Nanoseconds at = 0; at < 400; at += 100) t_.launched("gemm", at + 40, at + 50, at + 100);
  const std::vector<Finding> findings = found();
  const Finding* waits = first(findings, FindingKind::launch_bound);
  ASSERT_NE(waits, nullptr);
  EXPECT_DOUBLE_EQ(number(*waits, "kernels_per_pass"), 4);
  EXPECT_EQ(text(*waits, "pass"), "request");
  EXPECT_EQ(text(*waits, "decodes"), "no");
}

// Three decode steps with 30 ns of norm each cost more than a prefill step with 60.
TEST_F(Findings, RankAnEnginesStepsByWhatTheyCostTogether) {
  t_.stages().serving = true;
  const uint32_t prefill = t_.stage("prefill");
  const uint32_t decode = t_.stage("decode");
  t_.instance(prefill, 0, 1000);
  t_.step(0, 1000).kind = StepKind::prefill;
  t_.launched("gemm", 0, 0, 940);
  t_.launched("norm", 0, 940, 1000);
  for (Nanoseconds at = 1000; at < 4000; at += 1000) {
    t_.instance(decode, at, at + 1000);
    t_.step(at, at + 1000);
    t_.launched("gemm", 0, at, at + 970);
    t_.launched("norm", 0, at + 970, at + 1000);
  }
  const std::vector<Finding> findings = found();
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].stage, "decode");
  EXPECT_DOUBLE_EQ(nanoseconds(findings[0].saving), 30);
  EXPECT_DOUBLE_EQ(nanoseconds(findings[0].total_saving), 90);
  EXPECT_EQ(findings[0].unit, "engine step");
  EXPECT_DOUBLE_EQ(findings[0].share_of_wall.value, 0.03);
  EXPECT_EQ(text(findings[0], "pass"), "engine step");
  EXPECT_DOUBLE_EQ(number(findings[0], "kernels_per_pass"), 1);
}

// 600 ns of replays and 200 of kernels.
TEST_F(Findings, BeginWithWhatTheCaptureHides) {
  t_.instance(t_.stage("decode"), 0, 1000);
  t_.launched("norm", 0, 0, 200);
  t_.replay(200, 800, t_.call("cudaGraphLaunch", 0, 5));
  const std::vector<Finding> findings = found();
  ASSERT_GE(findings.size(), 2U);
  EXPECT_EQ(findings[0].kind, FindingKind::hidden_graphs);
  EXPECT_DOUBLE_EQ(share(findings[0], "hidden_share_of_gpu_time"), 0.75);
  EXPECT_DOUBLE_EQ(milliseconds(findings[0], "hidden_time"), 600e-6);
  EXPECT_DOUBLE_EQ(milliseconds(findings[0], "hidden_time_per_instance"), 600e-6);
  EXPECT_FALSE(findings[0].saving);
  EXPECT_DOUBLE_EQ(findings[0].share_of_wall.value, 0.6);
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

TEST_F(Findings, LeaveOutWhatIsBelowOnePercent) {
  t_.instance(t_.stage("decode"), 0, 10000);
  t_.launched("gemm", 0, 0, 9910);
  t_.launched("norm", 0, 9910, 10000);
  EXPECT_TRUE(found().empty());
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

TEST_F(Findings, AreNoneWithoutStages) { EXPECT_TRUE(found().empty()); }

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
