#include <gtest/gtest.h>

#include "analysis/shown/shown_times.h"
#include "testing/shown.h"

namespace llmprof::analysis::shown {
namespace {

using profile::Milliseconds;
using profile::Parallelism;
using profile::Share;

profile::Profile job_of(profile::Job job) {
  profile::Profile profile;
  profile.job = std::move(job);
  return testing::shown(std::move(profile));
}

TEST(ShownJob, ParallelismIsTheLargestGroupOfEachKind) {
  profile::Job job;
  for (const auto& [kind, size] :
       {std::pair{Parallelism::data, 1}, std::pair{Parallelism::pipeline, 3},
        std::pair{Parallelism::tensor, 4}, std::pair{Parallelism::tensor, 2},
        std::pair{Parallelism::unknown, 8}}) {
    profile::RankGroup& group = job.groups.emplace_back();
    group.parallelism = kind;
    group.size = static_cast<uint64_t>(size);
  }
  const auto sizes = job_of(job).job->parallelism;
  ASSERT_EQ(sizes.size(), 2U);
  EXPECT_EQ(sizes[0].parallelism, Parallelism::tensor);
  EXPECT_EQ(sizes[0].size, 4U);
  EXPECT_EQ(sizes[1].parallelism, Parallelism::pipeline);
}

TEST(ShownJob, SharesOfCollectivesHaveTheirOwnDenominators) {
  profile::Job job;
  profile::JobCollective& busy = job.collectives.emplace_back();
  busy.wait_total = {3};
  busy.transfer_total = {1};
  busy.exposed_total = {1.5};
  busy.hidden_total = {2.5};
  job.collectives.emplace_back();
  const auto rows = job_of(job).job->collectives;
  EXPECT_EQ(rows[0].total.value, 4);
  EXPECT_EQ(rows[0].share_waiting->value, 0.75);
  EXPECT_EQ(rows[0].share_exposed->value, 0.375);
  EXPECT_FALSE(rows[1].share_waiting || rows[1].share_exposed) << "no time, no share";
}

TEST(ShownJob, PartsOfARanksWallTimeAreShares) {
  profile::Profile profile;
  profile.job.emplace();
  profile::Rank& rank = profile.ranks.emplace_back();
  profile::RankStage& own = rank.between.emplace_back();
  own.wall = {8};
  own.compute = {4};
  own.wait = {2};
  own.idle = {1};
  rank.between.emplace_back();
  const auto rows = testing::shown(profile).ranks[0].between;
  EXPECT_EQ(rows[0].shares_of_wall->compute.value, 0.5);
  EXPECT_EQ(rows[0].shares_of_wall->wait.value, 0.25);
  EXPECT_EQ(rows[0].shares_of_wall->idle.value, 0.125);
  EXPECT_FALSE(rows[1].shares_of_wall);
}

// In the first bin the ranks take 1, 2 and 4 ms; in the second, only two have a step.
TEST(ShownJob, RanksAreComparedWithTheMedianOfEachBin) {
  profile::Job job;
  job.heat.rows = {{0, {1, 3}, {}}, {1, {2, -1}, {}}, {2, {4, 5}, {}}, {3, {-1, -1}, {}}};
  const profile::Heat heat = job_of(job).job->heat;
  EXPECT_EQ(heat.median_ms, (std::vector<double>{2, 4}));
  EXPECT_DOUBLE_EQ(heat.rows[0].share_above_median->value, (-0.5 - 0.25) / 2);
  EXPECT_DOUBLE_EQ(heat.rows[1].share_above_median->value, 0);
  EXPECT_DOUBLE_EQ(heat.rows[2].share_above_median->value, (1 + 0.25) / 2);
  EXPECT_FALSE(heat.rows[3].share_above_median);
}

}  // namespace
}  // namespace llmprof::analysis::shown
