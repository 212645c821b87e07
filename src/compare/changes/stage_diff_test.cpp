#include "compare/changes/changes.h"

#include <gtest/gtest.h>

#include <numeric>

#include "testing/decode_run.h"

namespace llmprof::compare {
namespace {

using testing::decode_run;

TEST(Apportion, SharesSumToTheRoundedWhole) {
  const std::vector<int64_t> totals = {10, 10, 10, 1};
  const std::vector<int64_t> shares = apportion(totals, 3);
  EXPECT_EQ(std::accumulate(shares.begin(), shares.end(), int64_t{0}), 10);  // 31 / 3
  EXPECT_EQ(shares, (std::vector<int64_t>{3, 4, 3, 0}));
  EXPECT_TRUE(apportion({}, 3).empty());
}

TEST(StageDiff, PartsKernelsAndCausesSumToTheWallsDifference) {
  const compare::Run base = decode_run({std::vector<double>(10, 10.0)});
  const compare::Run now = decode_run({std::vector<double>(10, 12.0)});
  const StageDiff diff = diff_stage({{&base, 1}, {&now, 1}}, "decode", true);
  EXPECT_EQ(diff.unit, TimeUnit::step);
  EXPECT_EQ(diff.times, Times::recorded);
  EXPECT_EQ(diff.base_wall.value, 10'000'000);
  EXPECT_EQ(diff.difference.value, 2'000'000);
  EXPECT_DOUBLE_EQ(diff.relative->value, 0.2);
  int64_t parts = 0;
  for (const PartChange& part : diff.budget) parts += part.difference.value;
  EXPECT_EQ(parts, diff.difference.value);
  ASSERT_EQ(diff.kernels.size(), 1U);
  EXPECT_EQ(diff.kernels.front().change, ChangeKind::matched);
  EXPECT_EQ(diff.kernel_difference.value, 1'000'000);
  EXPECT_EQ(diff.overlap.value, 0);
  int64_t causes = 0;
  for (const Cause& cause : diff.causes) causes += cause.difference.value;
  EXPECT_EQ(causes, diff.difference.value);
}

TEST(StageDiff, HiddenKernelsAreNotMatched) {
  const compare::Run run = decode_run({std::vector<double>(10, 10.0)});
  EXPECT_TRUE(diff_stage({{&run, 1}, {&run, 1}}, "decode", false).kernels.empty());
}

TEST(StageDiff, WholeCapturesAreComparedWithoutStages) {
  compare::Run base = decode_run({});
  base.profile.stages.clear();
  base.profile.kernels.front().calls = 4;
  base.profile.kernels.front().total_ns = {4000};
  compare::Run now = base;
  now.profile.kernels.front().total_ns = {6000};
  const StageDiff diff = diff_all_kernels({{&base, 1}, {&now, 1}});
  EXPECT_EQ(diff.stage, kAllKernels);
  EXPECT_EQ(diff.unit, TimeUnit::capture);
  EXPECT_EQ(diff.kernel_difference.value, 2000);
}

TEST(Causes, MoreLaunchesOfTheSameKernelAreACauseOfTheirOwn) {
  StageDiff diff;
  KernelChange& change = diff.kernels.emplace_back();
  change.change = ChangeKind::matched;
  change.base_kernels = {{"gemm_kernel", profile::KernelClass::gemm, 2}};
  change.now_kernels = {{"gemm_kernel", profile::KernelClass::gemm, 3}};
  change.base = {200};
  change.now = {330};
  change.difference = {130};
  find_causes(diff);
  ASSERT_EQ(diff.causes.size(), 2U);
  EXPECT_EQ(diff.causes[0].kind, ChangeKind::same_kernels);
  EXPECT_EQ(diff.causes[0].difference.value, 30);
  EXPECT_EQ(diff.causes[1].kind, ChangeKind::launches);
  EXPECT_EQ(diff.causes[1].difference.value, 100);
}

}  // namespace
}  // namespace llmprof::compare
