#include "analysis/utilization/findings.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/budget/test_trace.h"

namespace llmprof::analysis {
namespace {

class Findings : public ::testing::Test {
 protected:
  std::vector<Finding> found(const Utilization& utilization = {}, const Roofline& roofline = {}) {
    const Budgets budgets = t_.budgets();
    KernelRanking ranking =
        rank_kernels(t_.trace(), DescribedNames(t_.trace(), TestTrace::rules()));
    ranking.measured_kernels.assign(t_.trace().kernels.size(), measured_);
    const auto recoverable = recoverable_time(t_.stages(), budgets, utilization);
    auto findings = find_findings(t_.trace(), t_.stages(), budgets, recoverable, utilization,
                                  ranking, roofline, selection_, counters_);
    EXPECT_TRUE(std::is_sorted(findings.begin(), findings.end(), [](const auto& a, const auto& b) {
      return a.blind != b.blind ? a.blind : a.total_recoverable > b.total_recoverable;
    }));
    for (const Finding& finding : findings) {
      EXPECT_GE(finding.share_of_wall, 0.01) << finding.title;
      EXPECT_NE(finding.evidence.find_first_of("0123456789"), std::string::npos) << finding.title;
      EXPECT_FALSE(finding.advice.empty()) << finding.title;
    }
    return findings;
  }
  static const Finding* titled(const std::vector<Finding>& findings, std::string_view title) {
    for (const Finding& finding : findings) {
      if (finding.title.find(title) != std::string::npos) return &finding;
    }
    return nullptr;
  }

  TestTrace t_;
  Selection selection_;
  Counters counters_;
  bool measured_ = false;  // every kernel, by a profiler
};

// Four steps of 1000 ns with 5 kernels of 20 ns each; every launch is called 150 ns after the
// kernel before has ended, and its kernel starts 30 ns later.
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
  // 20 gaps, of which the first is the edge: 16 in steps, 3 between steps, each 180.
  const Finding* launch = titled(findings, "The GPU waits for the host");
  ASSERT_NE(launch, nullptr);
  EXPECT_DOUBLE_EQ(launch->recoverable, 16 * 180);
  EXPECT_DOUBLE_EQ(*launch->per_token, 16 * 180 / 4.0);
  EXPECT_DOUBLE_EQ(launch->share_of_wall, 16 * 180 / 4000.0);
  EXPECT_EQ(launch->stage, "decode");
  EXPECT_NE(launch->evidence.find("2.9 us a request, 72.0 % of the stage's wall time"),
            std::string::npos)
      << launch->evidence;
  EXPECT_NE(launch->evidence.find("5 kernels a step, none of them in a CUDA graph"),
            std::string::npos)
      << launch->evidence;
  EXPECT_NE(launch->advice.find("CUDA graph"), std::string::npos);
  const Finding* between = titled(findings, "between steps");
  ASSERT_NE(between, nullptr);
  EXPECT_DOUBLE_EQ(between->recoverable, 3 * 180);
  EXPECT_EQ(findings.front().title, launch->title);
}

// A graph of 3 kernels a step, launched late.
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
  const Finding* launch = titled(findings, "The GPU waits for the host");
  ASSERT_NE(launch, nullptr);
  EXPECT_NE(launch->evidence.find("75.0 % of them in CUDA graphs"), std::string::npos)
      << launch->evidence;
  EXPECT_NE(launch->advice.find("CUDA graphs are in use"), std::string::npos);
}

// 800 of 1000 ns busy at three quarters of the highest clock.
TEST_F(Findings, TellClocksThatHeatOrPowerLower) {
  t_.instance(t_.stage("decode"), 0, 1000);
  t_.launched("gemm", 0, 0, 800);
  t_.stages().stages[0].busy = summarise({800});
  StageCounters decode;
  decode.sm_clock = StageCounters::Sensor{1500, 1400, 1980, 8};
  decode.highest_sm_clock = 2000;
  decode.throttled = {{throttle_reasons(0x4).front(), 0.5},
                      {throttle_reasons(0x40).front(), 0.25},
                      {throttle_reasons(0x1).front(), 0.1}};
  counters_.stages = {decode};
  const std::vector<Finding> findings = found();
  const Finding* clocks = titled(findings, "below its highest clock");
  ASSERT_NE(clocks, nullptr);
  EXPECT_DOUBLE_EQ(clocks->recoverable, 200);
  EXPECT_NE(clocks->evidence.find("1500 MHz on average (1400 to 1980 MHz in 8 samples) of 2000"),
            std::string::npos)
      << clocks->evidence;
  EXPECT_NE(clocks->evidence.find("power cap in 50.0 % of the samples, thermal slowdown (hardware) "
                                  "in 25.0 %"),
            std::string::npos)
      << clocks->evidence;
  EXPECT_EQ(clocks->evidence.find("idle"), std::string::npos) << clocks->evidence;
}

TEST_F(Findings, LeaveUsualClocksAlone) {
  t_.instance(t_.stage("decode"), 0, 1000);
  t_.launched("gemm", 0, 0, 800);
  t_.stages().stages[0].busy = summarise({800});
  StageCounters decode;
  decode.sm_clock = StageCounters::Sensor{1900, 1850, 1980, 8};
  decode.highest_sm_clock = 2000;
  decode.throttled = {{throttle_reasons(0x4).front(), 0.01}};
  counters_.stages = {decode};
  EXPECT_EQ(titled(found(), "below its highest clock"), nullptr);
}

TEST_F(Findings, NameTheSynchronisingCall) {
  t_.instance(t_.stage("decode"), 0, 1000);
  t_.launched("gemm", 0, 0, 100);
  t_.copy(100, 110, t_.call("cudaMemcpyAsync", 2, 5));
  t_.call("cudaStreamSynchronize_v3020", 6, 600);
  t_.launched("gemm", 600, 610, 1000);
  const std::vector<Finding> findings = found();
  const Finding* wait = titled(findings, "waits for the GPU");
  ASSERT_NE(wait, nullptr);
  EXPECT_DOUBLE_EQ(wait->recoverable, 490);
  EXPECT_NE(wait->evidence.find("the longest 500 ns, in cudaStreamSynchronize, after copy "
                                "Device-to-Host"),
            std::string::npos)
      << wait->evidence;
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
  const Finding* stall = titled(findings, "stalls before attention");
  ASSERT_NE(stall, nullptr);
  EXPECT_DOUBLE_EQ(stall->recoverable, 5000);
  EXPECT_NE(stall->evidence.find("2 gaps of 2.5 us on average between gemm and attention"),
            std::string::npos)
      << stall->evidence;
  // 29 gaps of 10 twice, and one after each attention.
  const Finding* launch = titled(findings, "The GPU waits for the host");
  ASSERT_NE(launch, nullptr);
  EXPECT_DOUBLE_EQ(launch->recoverable, 600);
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
  EXPECT_EQ(findings[0].title, "Small kernels that can be fused");
  EXPECT_DOUBLE_EQ(findings[0].recoverable, 120);
  EXPECT_EQ(findings[0].evidence,
            "120 ns a request, 12.0 % of the stage's wall time: 2 kernels a step of 30 ns on "
            "average; the "
            "longest: norm 80 ns in 2 calls, mul 40 ns in 2 calls");
  EXPECT_EQ(findings[1].title, "Copies and casts");
  EXPECT_DOUBLE_EQ(findings[1].recoverable, 80);
}

TEST_F(Findings, HoldProductsAgainstTheirFloor) {
  t_.instance(t_.stage("prefill"), 0, 1000);
  t_.launched("gemm", 0, 0, 1000);
  StageUtilization stage;
  stage.peak_flops = 1e12;  // 1000 FLOP a nanosecond
  stage.peak_bandwidth = 1e12;
  stage.peak_name = "bf16 dense";
  stage.cost.parts = {{"feed-forward", 600000, 1000, 0}};
  stage.floor = 600;
  Utilization utilization;
  utilization.stages.push_back(stage);
  const std::vector<Finding> findings = found(utilization);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].title, "Matrix products above their floor");
  EXPECT_DOUBLE_EQ(findings[0].recoverable, 400);
  EXPECT_NE(findings[0].evidence.find("1.0 us against a floor of 600 ns"), std::string::npos)
      << findings[0].evidence;
  EXPECT_FALSE(findings[0].per_token);
}

TEST_F(Findings, TellExposedCommunication) {
  t_.instance(t_.stage("decode"), 0, 1000);
  t_.launched("gemm", 0, 0, 900);
  t_.launched("all_reduce", 0, 800, 1000);
  const std::vector<Finding> findings = found();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_DOUBLE_EQ(findings[0].recoverable, 100);
  EXPECT_NE(findings[0].evidence.find("out of 200 ns in communication kernels"), std::string::npos)
      << findings[0].evidence;
}

// Measured at 30 % of its nearer roof: 70 % of its 500 ns is above it.
TEST_F(Findings, TellLatencyBoundKernels) {
  t_.instance(t_.stage("decode"), 0, 1000);
  t_.launched("gemm", 0, 0, 500);
  t_.launched("gemm2", 0, 500, 1000);
  Roofline roofline;
  KernelRoofline kernel;
  kernel.row = 1;
  kernel.compute_percent = 10;
  kernel.memory_percent = 30;
  kernel.bound = KernelRoofline::Bound::latency;
  roofline.kernels.push_back(kernel);
  measured_ = true;
  const std::vector<Finding> findings = found({}, roofline);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_DOUBLE_EQ(findings[0].recoverable, 350);
  EXPECT_NE(findings[0].evidence.find("1 kernel name measured by ncu, its 1 launch"),
            std::string::npos)
      << findings[0].evidence;
}

// Two prefills with 20 gaps of 10 ns each; in the second one, one gap is 2000 ns.
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
  const Finding* stall = titled(findings, "The host stalls once before attention");
  ASSERT_NE(stall, nullptr);
  EXPECT_DOUBLE_EQ(stall->total_recoverable, 2010);
  EXPECT_DOUBLE_EQ(stall->recoverable, 1005);
  EXPECT_TRUE(stall->evidence.starts_with(
      "one stall of 2.0 us in 1 of 2 prefills, before attention; the host was in "))
      << stall->evidence;
  const Finding* waits = titled(findings, "The GPU waits for the host");
  ASSERT_NE(waits, nullptr);
  EXPECT_DOUBLE_EQ(waits->total_recoverable, 390);
  EXPECT_EQ(waits->advice.find("Replay the step"), std::string::npos);
}

// Two decodes with 20 gaps of 10 ns; before attention 2000 ns in the first, before norm 3000 ns in
// the second.
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
  EXPECT_EQ(titled(findings, "stalls once"), nullptr);
  const Finding* stall = titled(findings, "The host stalls 2 times, longest before norm");
  ASSERT_NE(stall, nullptr);
  EXPECT_DOUBLE_EQ(stall->total_recoverable, 2010 + 3010);
  EXPECT_TRUE(
      stall->evidence.starts_with("2 stalls of 5.0 us together in 2 of 2 decodes, the "
                                  "longest 3.0 us, before norm; "))
      << stall->evidence;
  EXPECT_NE(stall->advice.find("these times"), std::string::npos) << stall->advice;
}

TEST_F(Findings, DoNotCountOneOfOne) {
  t_.instance(t_.stage("prefill"), 0, 21 * 60 - 10 + 2000);
  Nanoseconds at = 0;
  for (int i = 0; i < 20; ++i) {
    t_.launched("gemm", at - 2, at, at + 50);
    at += 60;
  }
  at += 2000;
  t_.launched("attention", at - 2, at, at + 50);
  const std::vector<Finding> findings = found();
  const Finding* stall = titled(findings, "The host stalls once before attention");
  ASSERT_NE(stall, nullptr);
  EXPECT_TRUE(stall->evidence.starts_with("one stall of 2.0 us in the only prefill, before "))
      << stall->evidence;
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
  EXPECT_TRUE(of_stage[0].evidence.starts_with("80 ns a decode, 8.0 % of the stage's wall time"))
      << of_stage[0].evidence;
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
  EXPECT_TRUE(
      of_steps[0].evidence.starts_with("80 ns per 2 steps, 8.0 % of the stage's wall "
                                       "time: 1 kernel a step of 40 ns"))
      << of_steps[0].evidence;
}

// A detected prefill has one step; its kernels are counted, and advice is given, by request.
TEST_F(Findings, SpeakOfPrefillAsOfAPass) {
  t_.instance(t_.stage("prefill"), 0, 400);
  t_.step(0, 400).kind = StepKind::prefill;
  for (Nanoseconds at = 0; at < 400; at += 100) t_.launched("gemm", at + 40, at + 50, at + 100);
  const std::vector<Finding> findings = found();
  const Finding* waits = titled(findings, "The GPU waits for the host");
  ASSERT_NE(waits, nullptr);
  EXPECT_NE(waits->evidence.find("4 kernels a request"), std::string::npos) << waits->evidence;
  EXPECT_NE(waits->advice.find("fixed prompt lengths"), std::string::npos) << waits->advice;
}

// Three decode steps with 30 ns of norm each, and a prefill step with 60: the steps cost more.
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
  EXPECT_DOUBLE_EQ(findings[0].recoverable, 30);
  EXPECT_DOUBLE_EQ(findings[0].total_recoverable, 90);
  EXPECT_EQ(findings[0].unit, "engine step");
  EXPECT_TRUE(
      findings[0].evidence.starts_with("30 ns an engine step, 3.0 % of the stage's wall time: 1 "
                                       "kernel an engine step"))
      << findings[0].evidence;
}

// 600 ns of replays beside 200 of kernels.
TEST_F(Findings, BeginWithWhatTheCaptureHides) {
  t_.instance(t_.stage("decode"), 0, 1000);
  t_.launched("norm", 0, 0, 200);
  t_.replay(200, 800, t_.call("cudaGraphLaunch", 0, 5));
  const std::vector<Finding> findings = found();
  ASSERT_GE(findings.size(), 2U);
  EXPECT_TRUE(findings[0].blind);
  EXPECT_EQ(findings[0].title,
            "75.0 % of GPU time is inside CUDA graphs whose kernels were not captured");
  EXPECT_DOUBLE_EQ(findings[0].recoverable, 0);
  EXPECT_DOUBLE_EQ(findings[0].share_of_wall, 0.6);
  EXPECT_NE(findings[0].advice.find("--cuda-graph-trace=node"), std::string::npos);
}

// 8 layers: top-k in each of them chooses experts, the one behind them a token.
TEST_F(Findings, TellExpertsFromTokensByTheirNumber) {
  t_.instance(t_.stage("decode"), 0, 1000);
  t_.step(0, 1000);
  for (Nanoseconds at = 0; at < 800; at += 100) {
    t_.launched("attention", 0, at, at + 80);
    t_.launched("topk", 0, at + 80, at + 100);
  }
  t_.launched("gemm", 0, 800, 1000);
  const std::vector<Finding> findings = found();
  EXPECT_EQ(titled(findings, "Token selection"), nullptr);
  const Finding* routing = titled(findings, "Expert routing");
  ASSERT_NE(routing, nullptr);
  EXPECT_DOUBLE_EQ(routing->recoverable, 160);
}

// Launched at 0 (the call returns after 2 ns), begun 3 ms later.
TEST_F(Findings, DoNotBlameTheStageForAGpuThatWasNotFree) {
  constexpr Nanoseconds kMs = 1'000'000;
  t_.instance(t_.stage("decode"), 0, 4 * kMs);
  t_.launched("gemm", 0, 3 * kMs, 4 * kMs);
  const std::vector<Finding> findings = found();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].title, "The first GPU work waits although it was launched in time");
  EXPECT_DOUBLE_EQ(findings[0].recoverable, 3 * kMs - 2);
}

TEST_F(Findings, LeaveOutWhatIsBelowOnePercent) {
  t_.instance(t_.stage("decode"), 0, 10000);
  t_.launched("gemm", 0, 0, 9910);
  t_.launched("norm", 0, 9910, 10000);
  EXPECT_TRUE(found().empty());
}

TEST_F(Findings, AreNoneWithoutStages) { EXPECT_TRUE(found().empty()); }

}  // namespace
}  // namespace llmprof::analysis
