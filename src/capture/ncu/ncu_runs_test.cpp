#include "capture/ncu/ncu_runs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include "base/text.h"

namespace llmprof::capture {
namespace {

constexpr NcuFeatures kOld = {};
constexpr NcuFeatures kNew = {
    .renames_kernels = true, .counts_per_shape = true, .has_config_file = true};
const InstalledTool kNcu = {"/opt/ncu", "2025.3.1.0"};

// The word after an option; empty if the option is missing.
std::string value_of(const std::vector<std::string>& argv, std::string_view option) {
  const auto at = std::find(argv.begin(), argv.end(), option);
  return at == argv.end() || at + 1 == argv.end() ? "" : *(at + 1);
}

ChosenKernel kernel(std::string name, std::string stage, std::string include, uint64_t launches,
                    uint64_t before = 0, uint64_t shapes = 1) {
  return {std::move(name), {}, std::move(stage), std::move(include), launches, before, shapes};
}

// Two stages of a model with 16 layers; 8 decode steps.
std::vector<ChosenKernel> annotated() {
  return {kernel("gemm<(int)8>(T1 *)", "decode", "LLM@decode_all/", 8 * 16 * 4, 64, 3),
          kernel("gemm<(int)8>(T1 *)", "prefill", "LLM@prefill/", 64, 0, 4),
          kernel("head(float *)", "decode", "LLM@decode_all/", 8, 1)};
}

TEST(NcuRuns, AreOneForEachStageGatedAndCountedPerShape) {
  const auto runs = plan_ncu_runs({}, annotated(), kNew);
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[0].name, "decode");
  EXPECT_EQ(runs[0].kernels.size(), 2U);
  EXPECT_EQ(runs[0].nvtx_include, std::vector<std::string>{"LLM@decode_all/"});
  EXPECT_TRUE(runs[0].count_per_shape);
  EXPECT_EQ(runs[0].launch_count, 3U);
  EXPECT_EQ(runs[0].expected_launches(), 3U * 3 + 3);
  EXPECT_EQ(runs[1].name, "prefill");
  EXPECT_EQ(runs[1].nvtx_include, std::vector<std::string>{"LLM@prefill/"});
  EXPECT_EQ(runs[1].expected_launches(), 12U);
}

// head comes once in a step of 65 launches, each shape of gemm more often: two steps include all.
TEST(NcuRuns, CountTwoStepsWhereNcuCannotCountPerShape) {
  const auto runs = plan_ncu_runs({}, annotated(), kOld);
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_FALSE(runs[0].count_per_shape);
  EXPECT_EQ(runs[0].launch_skip, 0U);
  EXPECT_GE(runs[0].launch_count, 2U * 65);
  EXPECT_LE(runs[0].launch_count, 2U * 65 + 1);
  // Four shapes of 16 launches each: a window of 8 includes all.
  EXPECT_GE(runs[1].launch_count, 8U);
  EXPECT_LE(runs[1].launch_count, 9U);
}

TEST(NcuRuns, SkipWhatCameBeforeAStageWithoutARange) {
  auto kernels = annotated();
  for (ChosenKernel& chosen : kernels) chosen.nvtx_include.clear();
  for (const NcuFeatures& features : {kOld, kNew}) {
    const auto runs = plan_ncu_runs({}, kernels, features);
    ASSERT_EQ(runs.size(), 2U);
    EXPECT_TRUE(runs[0].nvtx_include.empty());
    EXPECT_FALSE(runs[0].count_per_shape);
    EXPECT_EQ(runs[0].launch_skip, 65U);
  }
  const auto gated = plan_ncu_runs({}, annotated(), kNew);
  EXPECT_EQ(without_gate(gated[0], {}, kNew).launch_skip, 65U);
  NcuOptions never;
  never.gating_nvtx = false;
  EXPECT_EQ(plan_ncu_runs(never, annotated(), kNew)[0].launch_skip, 65U);
}

TEST(NcuRuns, NeverCountMoreThanTheCap) {
  const auto runs = plan_ncu_runs(
      {}, {kernel("often", "decode", "", 1'000'000), kernel("once", "decode", "", 1)}, kOld);
  EXPECT_EQ(runs.front().launch_count, 200U);
}

TEST(NcuRuns, TakeTheUsersOwnCountsLiterally) {
  NcuOptions options;
  options.launch_skip = 5;
  options.launch_count = 7;
  const auto runs = plan_ncu_runs(options, annotated(), kNew);
  EXPECT_FALSE(runs[0].count_per_shape);
  EXPECT_EQ(runs[0].launch_skip, 5U);
  EXPECT_EQ(runs[0].launch_count, 7U);
}

TEST(NcuRuns, WithoutATimelineMeasureWhateverRuns) {
  const auto runs = plan_ncu_runs({}, {}, kNew);
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0].name, "all");
  EXPECT_TRUE(runs[0].count_per_shape);
  EXPECT_TRUE(kernel_filter(runs[0]).empty());
  EXPECT_TRUE(runs[0].nvtx_include.empty());
  EXPECT_FALSE(runs[0].expected_launches());
  EXPECT_EQ(plan_ncu_runs({}, {}, kOld)[0].launch_count, 200U);
}

TEST(NcuRuns, AreSplitWhereACommandLineWouldNotHoldTheNames) {
  std::vector<ChosenKernel> kernels;
  for (int i = 0; i < 60; ++i) {
    kernels.push_back(kernel(std::string(4000, 'k') + std::to_string(i), "decode", "", 10));
  }
  kernels.push_back(kernel(std::string(400'000, 'z'), "decode", "", 10));
  const auto runs = plan_ncu_runs({}, kernels, kNew);
  ASSERT_EQ(runs.size(), 3U);  // 240 kB of names, and the start of the longest
  EXPECT_EQ(runs[1].name, "decode_2");
  size_t planned = 0;
  for (const NcuRun& run : runs) {
    planned += run.kernels.size();
    EXPECT_LT(kernel_filter(run).size(), 128U << 10U);
  }
  EXPECT_EQ(planned, kernels.size());
}

TEST(NcuRuns, FilterTakesEachOfItsKernels) {
  const NcuRun run = plan_ncu_runs({}, annotated(), kNew)[0];
  const std::string filter = kernel_filter(run);
  ASSERT_TRUE(filter.starts_with("regex:"));
  const std::regex regex(filter.substr(6));
  EXPECT_TRUE(std::regex_search("head(float *)", regex));
  EXPECT_TRUE(std::regex_search("void gemm<(int)8>(T1 *)", regex));
  EXPECT_FALSE(std::regex_search("ahead(float *)", regex));
  EXPECT_FALSE(std::regex_search("head(float *) const", regex));
}

// 16 steps: the head once per step, attention once in each of 16 layers. Any 17 launches in a row
// include both; 35 include them twice.
TEST(NcuRuns, OfLostKernelsHaveEachOfThem) {
  NcuRun run;
  run.name = "decode";
  run.nvtx_include = {"LLM@decode_all/"};
  run.count_per_shape = true;
  run.launch_count = 3;
  run.kernels = {kernel("gemm", "decode", "LLM@decode_all/", 400)};
  const NcuRun again =
      run_of_lost_kernels(run, {kernel("head", "decode", "LLM@decode_all/", 16),
                                kernel("attention", "decode", "LLM@decode_all/", 256)});
  EXPECT_EQ(again.name, "decode_lost");
  EXPECT_EQ(again.nvtx_include, run.nvtx_include);
  EXPECT_FALSE(again.count_per_shape);
  EXPECT_EQ(again.launch_skip, 0U);
  EXPECT_EQ(again.launch_count, 35U);
  EXPECT_EQ(again.kernels.size(), 2U);
  // If a kernel comes once in a thousand launches, not all are taken.
  const NcuRun rare =
      run_of_lost_kernels(run, {kernel("head", "decode", "LLM@decode_all/", 1),
                                kernel("attention", "decode", "LLM@decode_all/", 1000)});
  EXPECT_EQ(rare.launch_count, 200U);
}

TEST(NcuRuns, WithoutAGateALostKernelsRunStillCountsPlainly) {
  NcuRun run;
  run.nvtx_include = {"LLM@decode_all/"};
  run.kernels = {kernel("head", "", "LLM@decode_all/", 16)};
  EXPECT_FALSE(without_gate(run, {}, kNew).count_per_shape);
  run.count_per_shape = true;
  EXPECT_TRUE(without_gate(run, {}, kNew).count_per_shape);
}

TEST(NcuCommand, SaysAllThatWasAskedFor) {
  NcuOptions options;
  options.sections = {"SpeedOfLight", "Occupancy"};
  options.metrics = {"dram__bytes.sum"};
  options.clock_control = "none";
  options.extra_arguments = {"--cache-control", "none"};
  NcuRun run;
  run.name = "decode";
  run.kernels = {kernel("head", "decode", "LLM@decode_all/", 8)};
  run.nvtx_include = {"LLM@decode_all/"};
  run.count_per_shape = true;
  run.launch_count = 3;
  const std::vector<std::string> expected = {"/opt/ncu",
                                             "--config-file",
                                             "off",
                                             "--target-processes",
                                             "all",
                                             "--nvtx",
                                             "--nvtx-include",
                                             "LLM@decode_all/",
                                             "--set",
                                             "roofline",
                                             "--section",
                                             "SpeedOfLight",
                                             "--section",
                                             "Occupancy",
                                             "--metrics",
                                             "gpu__time_duration.sum,dram__bytes.sum",
                                             "--replay-mode",
                                             "kernel",
                                             "--kernel-name-base",
                                             "demangled",
                                             "--kernel-name",
                                             "regex:^(?:(?:void )?head)$",
                                             "--filter-mode",
                                             "per-launch-config",
                                             "--launch-count",
                                             "3",
                                             "--rename-kernels",
                                             "off",
                                             "--clock-control",
                                             "none",
                                             "--cache-control",
                                             "none",
                                             "--force-overwrite",
                                             "--export",
                                             "/out/100%%/decode",
                                             "python3",
                                             "serve.py"};
  EXPECT_EQ(build_ncu_cmd(kNcu, kNew, options, run, "/out/100%/decode", {"python3", "serve.py"}),
            expected);
}

TEST(NcuCommand, SelectsKernelsBySymbolWhereTheTimelineHasThem) {
  NcuRun run;
  run.kernels = {kernel("f(int)", "decode", "", 8), kernel("gemm.kernel", "decode", "", 8)};
  run.kernels[0].symbol = "_Z1fi";
  EXPECT_EQ(kernel_filter(run), R"(regex:^(?:(?:void )?f *\(int\)|(?:void )?gemm\.kernel)$)");
  EXPECT_FALSE(names_symbols(run));
  run.kernels[1].symbol = "gemm.kernel";
  EXPECT_EQ(kernel_filter(run), R"(regex:^(?:_Z1fi|gemm\.kernel)$)");
  for (const auto& argv : {build_ncu_cmd(kNcu, kNew, {}, run, "/out/decode", {}),
                           build_ncu_live_cmd(kNcu, kNew, {}, run, "/out/decode", {}),
                           build_ncu_import_cmd(kNcu, kNew, run, "a.ncu-rep")}) {
    const bool runs_program = argv[1] != "--import";
    EXPECT_EQ(value_of(argv, "--kernel-name-base"), runs_program ? "mangled" : "");
    const bool prints = argv.end() != std::find(argv.begin(), argv.end(), "--csv");
    EXPECT_EQ(value_of(argv, "--print-kernel-base"), prints ? "mangled" : "");
  }
}

TEST(NcuCommand, GivesAnOldNcuNoUnknownOption) {
  const auto run = plan_ncu_runs({}, annotated(), kOld)[0];
  for (const std::string& word : build_ncu_cmd(kNcu, kOld, {}, run, "/out/decode", {})) {
    EXPECT_FALSE(word == "--rename-kernels" || word == "--filter-mode" || word == "--config-file");
  }
  EXPECT_EQ(build_ncu_import_cmd(kNcu, kOld, run, "a.ncu-rep").back(), "base");
}

TEST(NcuCommand, LeavesLaunchesOutWhereRangesAreReplayed) {
  NcuOptions options;
  options.replay_mode = "range";
  const auto run = plan_ncu_runs(options, annotated(), kNew)[0];
  for (const std::string& word : build_ncu_cmd(kNcu, kNew, options, run, "/out/decode", {})) {
    EXPECT_NE(word, "--kernel-name");
    EXPECT_NE(word, "--launch-count");
  }
}

TEST(NcuFeatures, AreReadFromItsHelp) {
  const NcuFeatures none = features_in_help("--filter-mode arg (=global)\n per-gpu\n");
  EXPECT_FALSE(none.counts_per_shape || none.renames_kernels || none.has_config_file);
  const NcuFeatures all = features_in_help(
      "  --config-file arg (=1)   Use\n  per-launch-config: Apply\n  --rename-kernels arg (=1)\n");
  EXPECT_TRUE(all.counts_per_shape && all.renames_kernels && all.has_config_file);
}

// ncu 2025.3.1 on an H200 counted: set roofline alone 17 passes; with the sections below 18.
TEST(NcuEstimate, AgreesWithWhatNcuCounted) {
  NcuOptions options;
  EXPECT_EQ(predicted_passes(options), 17U);
  options.sections = {"SpeedOfLight", "MemoryWorkloadAnalysis", "Occupancy", "SchedulerStats"};
  EXPECT_EQ(predicted_passes(options), 18U);
  options.set.clear();
  options.sections = {"SpeedOfLight"};
  EXPECT_EQ(predicted_passes(options), 10U);
  options.sections.clear();
  EXPECT_EQ(predicted_passes(options), 1U);
}

// A program of 23 s took 95 s with 120 launches, one of 9.6 s took 51.6 s with 60.
TEST(NcuEstimate, AgreesWithMeasuredTimes) {
  NcuOptions options;
  options.sections = {"SpeedOfLight", "MemoryWorkloadAnalysis", "Occupancy"};
  options.short_run = options.stop_when_measured = false;
  NcuRun run;
  run.launch_count = 120;
  const auto long_one = predicted_time(options, {run}, std::chrono::seconds(23));
  ASSERT_TRUE(long_one);
  EXPECT_NEAR(static_cast<double>(long_one->count()), 95, 0.1 * 95);
  run.launch_count = 60;
  const auto short_one = predicted_time(options, {run}, std::chrono::milliseconds(9600));
  ASSERT_TRUE(short_one);
  EXPECT_NEAR(static_cast<double>(short_one->count()), 51.6, 0.1 * 51.6);
  EXPECT_FALSE(predicted_time(options, {run}, std::nullopt));
  run.launch_count = 0;
  EXPECT_FALSE(predicted_time(options, {run}, std::chrono::seconds(1)));
}

}  // namespace
}  // namespace llmprof::capture
