#include "analysis/utilization/kernel_recoverable.h"

#include <gtest/gtest.h>

namespace llmprof {
namespace {

constexpr auto kGemm = static_cast<size_t>(KernelClass::gemm);
constexpr auto kGemv = static_cast<size_t>(KernelClass::gemv);
constexpr auto kNorm = static_cast<size_t>(KernelClass::norm);

void add(KernelRanking& ranking, std::vector<OpenedKernel>& opened, KernelClass kernel_class,
         Nanoseconds steady_total) {
  KernelRow row;
  row.description.kernel_class = kernel_class;
  ranking.rows.push_back(row);
  OpenedKernel kernel;
  kernel.stages.push_back({9, 2 * steady_total, 6, steady_total});
  opened.push_back(kernel);
}

// Two instances. Products: 300 + 100 ns of gemm and gemv an instance against a floor of 200: half
// of each kernel's time is floor. A norm has none.
TEST(KernelRecoverable, SharesTheFloorOfItsClassByTime) {
  KernelRanking ranking;
  std::vector<OpenedKernel> opened;
  add(ranking, opened, KernelClass::gemm, 600);
  add(ranking, opened, KernelClass::gemv, 200);
  add(ranking, opened, KernelClass::norm, 500);
  add(ranking, opened, KernelClass::other, 0);  // not in this stage
  Budgets budgets;
  budgets.stages.resize(1);
  budgets.stages[0].instances = 2;
  StageRecoverable stage;
  stage.parts = {
      {kGemm, 300, 150, "weights"}, {kGemv, 100, 50, "weights"}, {kNorm, 250, 0, "fuse"}};

  const auto found = kernel_recoverable(ranking, opened, budgets, {stage});
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].row, 2U);
  EXPECT_DOUBLE_EQ(found[0].recoverable(), 250);
  EXPECT_EQ(found[0].floor_rule, "fuse");
  EXPECT_EQ(found[1].row, 0U);
  EXPECT_DOUBLE_EQ(found[1].time, 300);
  EXPECT_DOUBLE_EQ(found[1].floor, 150);
  EXPECT_EQ(found[2].row, 1U);
  EXPECT_DOUBLE_EQ(found[2].recoverable(), 50);
}

}  // namespace
}  // namespace llmprof
