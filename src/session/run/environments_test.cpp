#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "session/run/recordings.h"
#include "testing/engine_folder.h"

namespace llmprof::session {
namespace {

capture::CapturePlan plan_recording(Recording recording, const RunRequest& request,
                                    const Artifacts& bundle) {
  return kRecordings.at(static_cast<size_t>(recording)).plan(request, bundle);
}

constexpr const char* kLibrary = "/opt/llmprof/lib/libllmprof_collector.so";

class RecordingEnvironment : public ::testing::Test {
 protected:
  RecordingEnvironment() {
    request_.program.collector = kLibrary;
    request_.options.workload.uses_cuda = true;
    request_.captures.collector_cuda = true;
    clear();
  }
  ~RecordingEnvironment() override { clear(); }
  static void clear() {
    for (const char* name : {"LLMPROF_DUTY", "LLMPROF_CUPTI"}) ::unsetenv(name);
  }
  [[nodiscard]] std::map<std::string, std::string> environment() const {
    const Variables variables = collector_environment(request_);
    return {variables.begin(), variables.end()};
  }

  RunRequest request_;
  Artifacts bundle_{"/runs/one"};
};

bool has(const Variables& variables, std::string_view name) {
  return std::any_of(variables.begin(), variables.end(),
                     [&](const auto& variable) { return variable.first == name; });
}

TEST_F(RecordingEnvironment, TheCollectorIsLoadedByCudaAndNvtx) {
  const std::map<std::string, std::string> expected = {{"CUDA_INJECTION64_PATH", kLibrary},
                                                       {"NVTX_INJECTION64_PATH", kLibrary},
                                                       {"LLMPROF_ARM", "start"},
                                                       {"LLMPROF_STEP_RANGE", "decode_step"},
                                                       {"LLMPROF_COUNTERS", "on"},
                                                       {"LLMPROF_COUNTER_ROUNDS", "on"},
                                                       {"LLMPROF_SENSORS", "on"},
                                                       {"LLMPROF_MEMORY", "armed"}};
  EXPECT_EQ(environment(), expected);
}

TEST_F(RecordingEnvironment, EveryOptionReachesIt) {
  CollectorOptions& options = request_.options.collector;
  options.max_log_mb = 64;
  options.arm = "LLM@decode_all";
  options.steps = 12;
  options.step_range = "generate";
  options.duty = DutyCycle{4, 32};
  options.overhead_budget = 2.5;
  options.api = true;
  options.counters = false;
  options.counter_rounds = false;
  options.counter_hz = 5000;
  options.sensors = false;
  options.delay_ms = 1500;
  options.memory = "always";
  const std::map<std::string, std::string> expected = {
      {"LLMPROF_LOG_MAX_MB", "64"},        {"CUDA_INJECTION64_PATH", kLibrary},
      {"NVTX_INJECTION64_PATH", kLibrary}, {"LLMPROF_ARM", "LLM@decode_all"},
      {"LLMPROF_DELAY_MS", "1500"},        {"LLMPROF_STEPS", "12"},
      {"LLMPROF_STEP_RANGE", "generate"},  {"LLMPROF_DUTY", "4/32"},
      {"LLMPROF_OVERHEAD_BUDGET", "2.5"},  {"LLMPROF_API", "1"},
      {"LLMPROF_COUNTERS", "off"},         {"LLMPROF_COUNTER_HZ", "5000"},
      {"LLMPROF_COUNTER_ROUNDS", "off"},   {"LLMPROF_SENSORS", "off"},
      {"LLMPROF_MEMORY", "always"}};
  EXPECT_EQ(environment(), expected);
  options.overhead_budget = 2;
  EXPECT_EQ(environment()["LLMPROF_OVERHEAD_BUDGET"], "2");
}

TEST_F(RecordingEnvironment, TheUsersOwnSettingsOfTheCollectorAreNoneOfThisRun) {
  ::setenv("LLMPROF_DUTY", "1/2", 1);
  const auto variables = environment();
  ASSERT_TRUE(variables.contains("LLMPROF_DUTY"));
  EXPECT_EQ(variables.at("LLMPROF_DUTY"), "");
}

TEST_F(RecordingEnvironment, TheCuptiThatWasFoundIsTheLastResort) {
  request_.captures.cupti = "/venv/nvidia/cuda_cupti/lib/libcupti.so.12";
  EXPECT_EQ(environment()["LLMPROF_CUPTI_FALLBACK"], "/venv/nvidia/cuda_cupti/lib/libcupti.so.12");
  EXPECT_FALSE(environment().contains("LLMPROF_CUPTI"));
  ::setenv("LLMPROF_CUPTI", "/opt/libcupti.so", 1);  // then only this one is used
  EXPECT_FALSE(environment().contains("LLMPROF_CUPTI_FALLBACK"));
}

// Also without CUDA: annotated programs have ranks too.
TEST_F(RecordingEnvironment, TheUsersEnginesReachIt) {
  request_.captures.collector_cuda = false;
  request_.engines = testing::EngineFolder().engines();
  const std::string titles = environment()["LLMPROF_RANK_TITLES"];
  const std::string variables = environment()["LLMPROF_RANK_VARIABLES"];
  EXPECT_TRUE(titles.starts_with("VLLM::,acme::,")) << titles;
  EXPECT_TRUE(variables.starts_with("ACME_RANK,VLLM_DP_RANK,")) << variables;
}

TEST_F(RecordingEnvironment, WithoutCudaItIsNotLoadedByCuda) {
  request_.captures.collector_cuda = false;
  EXPECT_TRUE(environment().empty());
}

// Two users of CUPTI in one program interfere with each other.
TEST_F(RecordingEnvironment, NoOtherPassLoadsItIntoCuda) {
  const std::vector<Variables> others = {
      plan_recording(Recording::control, request_, bundle_).commands.front().environment,
      plan_recording(Recording::torch_profiler, request_, bundle_).commands.front().environment,
      nsys_request(request_, bundle_).environment, ncu_request(request_, bundle_).environment};
  for (const Variables& environment : others) {
    EXPECT_FALSE(has(environment, "CUDA_INJECTION64_PATH"));
    EXPECT_FALSE(has(environment, "NVTX_INJECTION64_PATH"));
    EXPECT_FALSE(has(environment, "LLMPROF_ARM"));
  }
  const Variables ours =
      plan_recording(Recording::collector, request_, bundle_).commands.front().environment;
  EXPECT_TRUE(has(ours, "CUDA_INJECTION64_PATH"));
}

TEST_F(RecordingEnvironment, OnlyTorchsRecordingAsksForAMemorySnapshot) {
  constexpr std::string_view kName = "LLMPROF_TORCH_MEMORY";
  const auto of_torch = [&] {
    return plan_recording(Recording::torch_profiler, request_, bundle_);
  };
  const capture::CapturePlan plan = of_torch();
  EXPECT_TRUE(has(plan.commands.front().environment, kName));
  EXPECT_EQ(plan.files, (std::vector<fs::path>{"torch/trace.json.gz", "torch/memory.pickle"}));
  const std::vector<Variables> others = {
      ncu_request(request_, bundle_).environment, nsys_request(request_, bundle_).environment,
      plan_recording(Recording::control, request_, bundle_).commands.front().environment,
      plan_recording(Recording::collector, request_, bundle_).commands.front().environment};
  for (const Variables& environment : others) EXPECT_FALSE(has(environment, kName));
  request_.options.workload.uses_cuda = false;
  EXPECT_FALSE(has(of_torch().commands.front().environment, kName));
  EXPECT_EQ(of_torch().notes, std::vector<std::string>{
                                  "no memory snapshot of PyTorch: the workload does not use CUDA"});
  request_.options.workload.uses_cuda = true;
  request_.options.torch.memory_snapshot = false;
  EXPECT_FALSE(has(of_torch().commands.front().environment, kName));
  EXPECT_TRUE(of_torch().notes.empty());
}

// ncu counts launches and does not time them: one short request has all of them.
TEST_F(RecordingEnvironment, OnlyNcuAsksForAShortRun) {
  const Variables plain = ncu_request(request_, bundle_).environment;
  const std::map<std::string, std::string> ncu_variables(plain.begin(), plain.end());
  ASSERT_TRUE(ncu_variables.contains("LLMPROF_SHORT_RUN"));
  EXPECT_EQ(ncu_variables.at("LLMPROF_SHORT_RUN"), R"({"requests":1,"new_tokens":8,"warm_up":0})");
  request_.options.ncu.short_run = false;
  const std::vector<Variables> others = {
      ncu_request(request_, bundle_).environment, nsys_request(request_, bundle_).environment,
      plan_recording(Recording::control, request_, bundle_).commands.front().environment,
      plan_recording(Recording::collector, request_, bundle_).commands.front().environment,
      plan_recording(Recording::torch_profiler, request_, bundle_).commands.front().environment};
  for (const Variables& environment : others) EXPECT_FALSE(has(environment, "LLMPROF_SHORT_RUN"));
}

// CUDA loads the collector, NVTX does not: ranges cost time, and nothing is traced.
TEST_F(RecordingEnvironment, WhatTimesTheDriverIsLoadedByCudaAlone) {
  request_.captures.cupti = "/venv/nvidia/cuda_cupti/lib/libcupti.so.12";
  EXPECT_EQ(injection_environment(request_),
            (Variables{{"CUDA_INJECTION64_PATH", kLibrary},
                       {"LLMPROF_CUPTI_FALLBACK", "/venv/nvidia/cuda_cupti/lib/libcupti.so.12"}}));
}

}  // namespace
}  // namespace llmprof::session
