#include "analysis/ranking/kernels.h"

#include <gtest/gtest.h>

#include "analysis/stages/annotated_stages.h"
#include "testing/hand_made_trace.h"

namespace llmprof::analysis {
namespace {

KernelRules kernel_rules() { return *KernelRules::load({}); }

TEST(OpenKernels, SplitsARowByGridAndStage) {
  testing::HandMadeTrace made;
  made.range("prefill", 0, 20);
  made.range("decode_all", 20, 40);
  made.range("prefill", 100, 200);
  made.kernel("a", 1, 1, 4, {{}, 0, 7, 0, {8, 1, 1}});
  made.kernel("a", 2, 5, 9, {{}, 0, 7, 0, {9, 1, 1}});
  made.kernel("a", 22, 22, 32, {{}, 0, 7, 0, {8, 1, 1}});
  made.kernel("b", 24, 33, 34);
  made.kernel("a", 50, 50, 51, {{}, 0, 7, 0, {8, 1, 1}});
  made.kernel("a", 52, 52, 53, {{}, 1, 7, 0, {8, 1, 1}});
  made.kernel("a", 110, 110, 120, {{}, 0, 7, 0, {8, 1, 1}});
  const trace::Trace trace = made.freeze();
  Diagnostics diagnostics;
  const auto rules = StageRules::load(*config::ConfFiles::open(std::nullopt));
  auto stages = annotated_stages(trace, MeaningfulRanges(trace, *rules), diagnostics);
  ASSERT_TRUE(stages);
  stages->instances[0].warmup = true;  // the first prefill
  const KernelRanking ranking = rank_kernels(trace, DescribedNames(trace, kernel_rules()));
  const auto opened = open_kernels(trace, ranking, *stages);
  ASSERT_EQ(opened.size(), 3U);  // a on GPU 0 and on GPU 1, b
  const OpenedKernel& a = opened[0];
  ASSERT_EQ(a.shapes.size(), 2U);
  EXPECT_EQ(a.shapes[0].grid, (trace::Extent{8, 1, 1}));
  EXPECT_EQ(a.shapes[0].calls, 4U);
  EXPECT_EQ(a.shapes[0].total, 3 + 10 + 1 + 10);
  EXPECT_EQ(a.shapes[0].stages[0].calls, 2U);  // prefill
  EXPECT_EQ(a.shapes[0].stages[0].total, 13);
  EXPECT_EQ(a.shapes[0].stages[0].steady.calls, 1U);
  EXPECT_EQ(a.shapes[0].stages[0].steady.total, 10);
  EXPECT_EQ(a.shapes[0].stages[1].total, 10);  // decode
  EXPECT_EQ(a.shapes[1].total, 4);
  EXPECT_EQ(a.stages[0].total, 17);
  EXPECT_EQ(a.stages[0].steady.total, 10);
  for (size_t i = 0; i < opened.size(); ++i) {
    Nanoseconds total = 0;
    for (const ShapeRow& shape : opened[i].shapes) total += shape.total;
    EXPECT_EQ(total, ranking.rows[i].total);
  }
}

TEST(OpenKernels, HasNothingToOpenWithoutATimeline) {
  testing::HandMadeTrace made;
  made.builder().trace().kernel_summaries.push_back(
      {made.builder().capture_id(), made.builder().string("a"), {}, 5, 500, 100, 90, 110});
  const trace::Trace trace = made.freeze();
  const KernelRanking ranking = rank_kernels(trace, DescribedNames(trace, kernel_rules()));
  const auto opened = open_kernels(trace, ranking, Stages());
  ASSERT_EQ(opened.size(), 1U);
  EXPECT_TRUE(opened[0].shapes.empty());
}

// Before stages were detected, or if there are none.
TEST(OpenKernels, OpensWithoutStages) {
  testing::HandMadeTrace made;
  made.kernel("a", 1, 1, 4);
  const trace::Trace trace = made.freeze();
  const KernelRanking ranking = rank_kernels(trace, DescribedNames(trace, kernel_rules()));
  const auto opened = open_kernels(trace, ranking, Stages());
  ASSERT_EQ(opened[0].shapes.size(), 1U);
  EXPECT_TRUE(opened[0].stages.empty());
}

}  // namespace
}  // namespace llmprof::analysis
