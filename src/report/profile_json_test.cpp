#include "report/profile_json.h"

#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "report/sample_profile_test.h"

namespace llmprof::report {
namespace {

nlohmann::json json_of(const SampleProfile& sample) {
  return nlohmann::json::parse(to_profile_json(sample.profile, "0.0.0"));
}

TEST(ProfileJson, HoldsStages) {
  const auto json = json_of(full_sample());
  EXPECT_EQ(json["schema_version"], 1);
  const auto& decode = json["stages"][1];
  EXPECT_EQ(decode["name"], "decode");
  EXPECT_EQ(decode["source"], "nvtx");
  EXPECT_EQ(decode["wall_ms"]["mean"], 9.0);
  EXPECT_EQ(decode["wall_ms"]["count"], 2);
  ASSERT_EQ(decode["instances"].size(), 3U);
  const auto& slow = decode["instances"][2];
  EXPECT_EQ(slow["wall_ms"], 10.0);
  EXPECT_EQ(slow["start_ns"], 46000000);
  EXPECT_EQ(slow["gpu_busy_ms"], 5.0);
  EXPECT_EQ(slow["kernel_count"], 8);
  EXPECT_EQ(slow["steps"], 4);
  EXPECT_EQ(slow["warmup"], false);
  EXPECT_EQ(slow["device"], "cuda:0");
  EXPECT_EQ(slow["budget_ns"]["idle: launch-bound"], 4500000);
  EXPECT_EQ(decode["mbu"]["wall"], 0.2917);
  EXPECT_EQ(decode["memory_bound"], true);
  EXPECT_EQ(json["stages"][0]["step_wall_ms"], nullptr);
}

TEST(ProfileJson, HoldsRanks) {
  const SampleProfile sample = full_sample();
  EXPECT_EQ(json_of(sample)["context"]["captures"][0].at("rank"), nullptr);
  sample.trace->captures[0].rank = 0;
  EXPECT_EQ(json_of(sample)["context"]["captures"][0].at("rank"), 0);
}

TEST(ProfileJson, NumbersInstancesByTheirStage) {
  const auto json = json_of(full_sample());
  ASSERT_EQ(json["steps"].size(), 12U);
  EXPECT_EQ(json["steps"][10]["stage"], "decode");
  EXPECT_EQ(json["steps"][10]["instance"], 2);
  EXPECT_EQ(json["steps"][10]["wall_ms"], 4.0);
  EXPECT_EQ(json["steps"][10]["batch"], nullptr);
  EXPECT_EQ(json["gaps"][0]["instance"], 2);
  EXPECT_EQ(json["gaps"][0]["step_of_instance"], 2);
  EXPECT_EQ(json["gaps"][0]["after_start_ms"], 4.5);
  EXPECT_EQ(json["gaps"][0]["work_after"], "GEMM 128x272 sm90 (nvjet bf16, TNT)");
}

TEST(ProfileJson, OpensKernels) {
  const auto json = json_of(full_sample());
  const auto& gemm = json["kernels"][0];
  EXPECT_EQ(gemm["stages"]["prefill"]["calls"], 3);
  EXPECT_EQ(gemm["stages"]["decode"]["steady_total_ms"], 6.0);
  EXPECT_EQ(gemm["ms_per_token"], 0.75);
  EXPECT_EQ(gemm["shapes"][1]["grid"], nlohmann::json({66, 2, 1}));
  EXPECT_EQ(gemm["shapes"][0]["ms_per_token"], nullptr);
  EXPECT_EQ(gemm["min_ms"], nullptr);
  EXPECT_FALSE(json["kernels"][1]["stages"].contains("prefill"));
  EXPECT_EQ(json["kernels_topk"].size(), 2U);
}

TEST(ProfileJson, SaysNullForWhatIsMissing) {
  const auto json = json_of(profiler_sample());
  EXPECT_EQ(json["model"], nullptr);
  EXPECT_EQ(json["selection"], nullptr);
  EXPECT_EQ(json["coverage"], nullptr);
  EXPECT_EQ(json["stage1"], nullptr);
  EXPECT_EQ(json["stages"], nlohmann::json::array());
  EXPECT_EQ(json["token_times"]["time_to_first_token_ms"], nullptr);
  EXPECT_EQ(json["workload"]["batch"], nullptr);
  EXPECT_EQ(json["kernels"][0]["ms_per_token"], nullptr);
  EXPECT_EQ(json["roofline"]["kernels"][0]["bound"], "compute");
  EXPECT_EQ(json["roofline"]["kernels"][0]["commonest_grid"], nlohmann::json({64, 2, 1}));
  EXPECT_EQ(json["roofline"]["kernels"][0]["grids"], 3);
  EXPECT_DOUBLE_EQ(json["roofline"]["kernels"][0]["compute_share_of_peak"].get<double>(), 0.6188);
}

TEST(ProfileJson, NamesTheSelection) {
  SampleProfile sample = full_sample();
  sample.profile.selection.steps = {4, 12};
  const auto json = json_of(sample);
  EXPECT_EQ(json["selection"]["steps"], nlohmann::json({{"first", 4}, {"last", 11}}));
  EXPECT_EQ(json["selection"]["stage"], nullptr);
}

TEST(ProfileJson, StaysFastWithManySteps) {
  SampleProfile sample = full_sample();
  sample.profile.stages.steps.resize(200000, sample.profile.stages.steps.front());
  const auto start = std::chrono::steady_clock::now();
  const std::string json = to_profile_json(sample.profile, "0.0.0");
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  EXPECT_GT(json.size(), 20000000U);
  EXPECT_LT(took.count(), 20);  // about one second; a search in each object would take minutes
}

}  // namespace
}  // namespace llmprof::report
