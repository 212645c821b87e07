#include "report/documents/documents.h"

#include <gtest/gtest.h>

#include "report/sections/sections.h"
#include "report/writers/writers.h"
#include "testing/sample_profile.h"
#include "testing/shown.h"

namespace llmprof::report {
namespace {

using testing::shown;

using testing::duty_sample;
using testing::full_sample;
using testing::profiler_sample;
using testing::serving_sample;

std::string report_of(const profile::Profile& profile) {
  return to_markdown(stage2_document(shown(profile)));
}

bool mentions(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// The text below a heading.
std::string section(const std::string& report, const std::string& heading) {
  const size_t start = report.find("\n## " + heading + "\n");
  if (start == std::string::npos) return {};
  const size_t end = report.find("\n## ", start + 1);
  return report.substr(start, end == std::string::npos ? end : end - start);
}

TEST(Stage2Report, SaysOnWhatGridsKernelsWereMeasured) {
  profile::Profile sample = profiler_sample();
  EXPECT_TRUE(mentions(report_of(sample), "15, most frequent grid 64 x 2 x 1 (of 3)"));
  sample.roofline.kernels[0].grids = 1;
  EXPECT_TRUE(mentions(report_of(sample), "15, grid 64 x 2 x 1; ncu |"));
}

TEST(Stage2Report, NamesRanksWhereThereAreAny) {
  profile::Profile sample = full_sample();
  EXPECT_FALSE(mentions(report_of(sample), "| rank |"));
  sample.context.captures[0].rank = 3;
  EXPECT_TRUE(mentions(report_of(sample), "| tool | rank | driver | CUDA |"));
  EXPECT_TRUE(mentions(report_of(sample), "| Nsight Systems 2025.3.2.0 | 3 | 580.159 | 13.0 |"));
}

TEST(Stage2Report, PointsOutALayerUnlikeTheOthers) {
  profile::Profile sample = full_sample();
  EXPECT_TRUE(mentions(report_of(sample), *sample.layers[0].note));
  EXPECT_TRUE(mentions(report_of(sample), "unlike the others"));
  sample.layers[0].note.reset();
  EXPECT_FALSE(mentions(report_of(sample), "unlike the others"));
}

TEST(Stage2Report, KeepsTheLayersOfTwoModelsApart) {
  profile::Profile sample = full_sample();
  for (profile::Layer& layer : sample.layers) layer.model_layers = 8;
  sample.layer_summary.stages[0].model_layers = 8;
  profile::Layer other = sample.layers[0];
  other.model_layers = 12;
  other.name = "layer_11";
  sample.layers.push_back(other);
  profile::StageLayers second = sample.layer_summary.stages[0];
  second.model_layers = 12;
  second.passes = 2;
  second.mean_per_step = {4};
  sample.layer_summary.stages.push_back(second);
  const std::string report = report_of(sample);
  const size_t first_at = report.find("### Layers in decode, model of 8 attention layers");
  const size_t second_at = report.find("### Layers in decode, model of 12 attention layers");
  ASSERT_NE(first_at, std::string::npos);
  ASSERT_NE(second_at, std::string::npos);
  EXPECT_TRUE(mentions(report, "1 layer in 8 passes, each with 1.0000 ms of kernel time per pass"));
  EXPECT_TRUE(mentions(report, "1 layer in 2 passes, each with 4.0000 ms of kernel time per pass"));
  const size_t other_at = report.find("| layer_11 |");
  ASSERT_NE(other_at, std::string::npos);
  EXPECT_GT(other_at, second_at);
}

// 3.5 ms longer in total: one part is longer, the other shorter.
TEST(Stage2Report, WritesNoNegativeTimes) {
  profile::Profile sample = full_sample();
  ASSERT_FALSE(sample.slow_steps.empty());
  sample.slow_steps[0].reasons = {{"gap before GEMM", {4}}, {"other parts", {-0.5}}};
  EXPECT_TRUE(mentions(report_of(sample),
                       "gap before GEMM (4.000 ms longer); other parts (0.500 ms shorter)"));
}

TEST(Stage2Report, SaysWhichStepsWouldBeSlow) {
  profile::Profile sample = full_sample();
  sample.slow_steps.clear();
  sample.slow_step_rule = "longer than the median step by more than 5 %";
  EXPECT_TRUE(mentions(
      report_of(sample),
      "None. A step counts as slow if it is longer than the median step by more than 5 %."));
}

// ncu only: every section that needs a timeline says so, with the one command that records it.
TEST(Stage2Report, NamesTheCommandThatWouldFillASection) {
  const std::string report = report_of(profiler_sample());
  for (const char* heading :
       {"Per-stage timings", "Steps and tokens", "MFU and MBU", "Time budget", "Longest idle gaps",
        "Slowest steps", "Layers", "Potential savings", "Findings"}) {
    EXPECT_TRUE(mentions(section(report, heading), "`llmprof run -- PROGRAM`")) << heading;
  }
}

TEST(Stage2Report, SaysWhatToMarkWhereATimelineShowsNoStages) {
  profile::Profile sample = profiler_sample();
  sample.totals.source = profile::KernelSource::timeline;
  sample.stages_found.reason = "nothing repeats";
  const std::string report = report_of(sample);
  EXPECT_TRUE(mentions(section(report, "Per-stage timings"),
                       "Cannot separate prefill from decode: nothing repeats."));
  EXPECT_TRUE(mentions(section(report, "Time budget"),
                       "mark prefill and decode in the program with llmprof_annotate"));
}

TEST(Stage2Report, CallsDetectedStagesAGuess) {
  const std::string words = "guessed from the kernel sequence (confidence high, 97 %).";
  EXPECT_TRUE(mentions(report_of(serving_sample()), words));
  EXPECT_FALSE(mentions(report_of(full_sample()), "guessed"));
  Document overview;
  add_stage_overview(shown(serving_sample()), overview);
  EXPECT_TRUE(mentions(to_markdown(overview), words));
}

TEST(Stage2Report, DoesNotTakeForwardPassesForAnLlm) {
  profile::Profile sample = serving_sample();
  sample.stages.resize(1);
  sample.stages.front().name = "forward";
  Document overview;
  add_stage_overview(shown(sample), overview);
  EXPECT_TRUE(mentions(to_markdown(overview),
                       "Not recognized as an LLM: these are forward passes of a model"));
}

// Work before the first stage does not count as missing from stages.
TEST(Stage2Report, CoverageIsOfTheWorkAfterInitialization) {
  EXPECT_EQ(
      coverage_sentence(full_sample()),
      "Coverage: stages hold 24 of 26 kernels (92.3 %) and 26.000 of 26.500 ms of kernel time "
      "(98.1 %) after initialization (4 kernels, 0.500 ms).");
  profile::Profile earlier = full_sample();
  earlier.coverage->work_kernels = 0;
  EXPECT_EQ(
      coverage_sentence(earlier),
      "Coverage: stages hold 24 of 30 kernels (80.0 %) and 26.000 of 27.000 ms of kernel time "
      "(96.3 %).");
}

TEST(Stage2Report, SpellsPartsForReaders) {
  profile::Profile sample = full_sample();
  ASSERT_TRUE(sample.stages[0].budget);
  sample.stages[0].budget->front().part = profile::TimePart::idle_synchronization;
  sample.kernels[0].kernel_class = profile::KernelClass::quantize;
  const std::string report = report_of(sample);
  EXPECT_TRUE(mentions(report, "| idle: synchronization |"));
  EXPECT_TRUE(mentions(report, "| quantization |"));
  EXPECT_FALSE(mentions(report, "quantise"));
}

// Two stages narrowed to different numbers of steps: each saving names its own.
TEST(Stage2Report, NamesTheUnitOfEachSavingWhereTheyDiffer) {
  profile::Profile sample = full_sample();
  ASSERT_GE(sample.findings.size(), 2U);
  for (profile::Finding& finding : sample.findings) finding.unit = "request";
  EXPECT_TRUE(mentions(report_of(sample), "| potential saving (ms per request) |"));
  sample.findings[0].unit = "8 steps";
  const std::string report = report_of(sample);
  EXPECT_FALSE(mentions(report, "(ms per request)"));
  EXPECT_TRUE(mentions(report, "| per 8 steps |"));
  EXPECT_TRUE(mentions(report, "| per request |"));
}

TEST(Stage2Report, DistinguishesNoReasonFromReasonsThatWereNotSampled) {
  profile::Profile sample = duty_sample();
  EXPECT_TRUE(mentions(report_of(sample), "| power cap (44.4 %) |"));
  for (profile::Stage& stage : sample.stages) {
    if (stage.measured) stage.measured->throttle_reasons.clear();
  }
  EXPECT_TRUE(mentions(report_of(sample), "| nothing |"));
  for (profile::Stage& stage : sample.stages) {
    if (stage.measured) stage.measured->throttle_samples = 0;
  }
  EXPECT_FALSE(mentions(report_of(sample), "| nothing |"));
}

TEST(Stage2Report, WarnsOfKernelsHiddenInGraphs) {
  profile::Profile sample = full_sample();
  sample.totals.hidden_graphs = profile::HiddenGraphs{1234, {20}, {0.426}, "decode"};
  EXPECT_TRUE(mentions(report_of(sample),
                       "Kernels inside CUDA graphs are missing: 1,234 graph replays launched in "
                       "decode (20.000 ms, 42.6 % of the time of kernels and graph replays)"));
}

// Bounds from ncu's counts are mentioned only if there are any.
TEST(Stage2Report, SaysHowTheBoundsOfKernelsWereFound) {
  profile::Profile sample = full_sample();
  ASSERT_FALSE(sample.savings.empty());
  for (profile::PotentialSavings& stage : sample.savings) {
    stage.kernels.assign(1, profile::KernelSaving{});
    stage.kernels[0].saving = {1};
    stage.kernels[0].floor_basis = profile::FloorBasis::share_of_class;
  }
  EXPECT_TRUE(mentions(report_of(sample), "| share of the class's lower bound |"));
  EXPECT_FALSE(mentions(report_of(sample), "that ncu counted"));
  sample.savings[0].kernels[0].floor_basis = profile::FloorBasis::own_counters;
  EXPECT_TRUE(mentions(report_of(sample), "that ncu counted"));
}

}  // namespace
}  // namespace llmprof::report
