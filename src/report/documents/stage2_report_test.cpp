#include "report/stage2_report.h"

#include <gtest/gtest.h>

#include "report/kernel_report.h"
#include "report/markdown.h"
#include "report/sample_profile_test.h"

namespace llmprof::report {
namespace {

std::string report_of(const SampleProfile& sample) {
  return to_markdown(stage2_document(sample.profile));
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(Stage2Report, SaysOnWhatGridsKernelsWereMeasured) {
  SampleProfile sample = profiler_sample();
  EXPECT_TRUE(has(report_of(sample), "15, commonest grid 64 x 2 x 1 (of 3)"));
  sample.profile.roofline.kernels[0].grids = 1;
  EXPECT_TRUE(has(report_of(sample), "15, grid 64 x 2 x 1 |"));
}

TEST(Stage2Report, NamesRanksWhereThereAreAny) {
  SampleProfile sample = full_sample();
  EXPECT_FALSE(has(report_of(sample), "| rank |"));
  sample.trace->captures[0].rank = 3;
  EXPECT_TRUE(has(report_of(sample), "| tool | rank | driver | CUDA |"));
  EXPECT_TRUE(has(report_of(sample), "| Nsight Systems 2025.3.2.0 | 3 | 580.159 | 13.0 |"));
  // On the terminal, and in kernels.md.
  const std::string words = "(nsys SQLite, Nsight Systems 2025.3.2.0, rank 3)";
  EXPECT_TRUE(has(to_markdown(kernel_overview(sample.profile, 5)), words));
  EXPECT_TRUE(has(to_markdown(kernel_document(sample.profile, 5)), words));
}

TEST(Stage2Report, PointsOutALayerUnlikeTheOthers) {
  SampleProfile sample = full_sample();
  EXPECT_TRUE(has(report_of(sample), "40 kernels a pass, the median layer 75"));
  EXPECT_TRUE(has(report_of(sample), "unlike the others"));
  sample.profile.layers.rows[0].note.clear();
  EXPECT_FALSE(has(report_of(sample), "unlike the others"));
}

TEST(Stage2Report, KeepsTheLayersOfTwoModelsApart) {
  SampleProfile sample = full_sample();
  auto& rows = sample.profile.layers.rows;
  for (analysis::LayerRow& row : rows) row.model = 8;
  analysis::LayerRow other = rows[0];
  other.model = 12;
  other.passes = 2;
  rows.push_back(other);
  const std::string report = report_of(sample);
  EXPECT_TRUE(has(report, "### Layers in decode, model of 8 attention layers"));
  EXPECT_TRUE(has(report, "1 layer in 8 passes, 1.0000 ms of kernel time a pass"));
  EXPECT_TRUE(has(report, "### Layers in decode, model of 12 attention layers"));
  EXPECT_TRUE(has(report, "1 layer in 2 passes, 4.0000 ms of kernel time a pass"));
}

// 3.5 ms longer in all; the rest is told without a sign.
TEST(Stage2Report, WritesNoNegativeTimes) {
  SampleProfile sample = full_sample();
  ASSERT_FALSE(sample.profile.budgets.slow_steps.empty());
  sample.profile.budgets.slow_steps[0].reasons = {{"gap before GEMM", 4000000},
                                                  {"other parts were shorter", -500000}};
  const std::string report = report_of(sample);
  EXPECT_TRUE(has(report,
                  "gap before GEMM (4.000 ms longer); other parts were shorter (0.500 ms "
                  "shorter)"));
}

}  // namespace
}  // namespace llmprof::report
