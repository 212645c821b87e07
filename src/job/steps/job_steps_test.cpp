#include "job/steps/job_steps.h"

#include <gtest/gtest.h>

#include "testing/job_parts.h"

namespace llmprof::job {
namespace {

TestJob of_slower_second_rank() {
  TestJob job;
  job.jitter = [](uint32_t rank, uint32_t) { return Nanoseconds(rank == 1 ? 10'000 : 0); };
  return job;
}

TEST(JobSteps, EndWithTheSlowestRankAndFollowEachOther) {
  const std::vector<RankPart> parts = of_slower_second_rank().make();
  const JobSteps made = make_job_steps(parts, one_clock(2), {});
  ASSERT_EQ(made.steps.size(), 20U);
  EXPECT_EQ(made.matched, 20U);
  EXPECT_EQ(made.unmatched, 0U);
  for (size_t i = 0; i < made.steps.size(); ++i) {
    EXPECT_EQ(made.steps[i].end, parts[1].step_end[i]);
    EXPECT_EQ(made.steps[i].start, i > 0 ? made.steps[i - 1].end : parts[0].step_start[0]);
  }
  ASSERT_EQ(made.instances.size(), 1U);
  EXPECT_EQ(made.instances[0].end, made.steps.back().end);
}

TEST(JobSteps, AreThoseThatAllRanksHave) {
  std::vector<RankPart> parts = TestJob().make();
  cut(parts[1], 16, 144);  // from the third step to the third from last
  const JobSteps by_collectives = make_job_steps(parts, one_clock(2), {{0, 1, {{2, 0}, {3, 1}}}});
  EXPECT_EQ(by_collectives.steps.size(), 16U);
  EXPECT_EQ(by_collectives.steps.front().row, (std::vector<uint32_t>{2, 0}));
  EXPECT_EQ(by_collectives.unmatched, 4U);
  const JobSteps by_time = make_job_steps(parts, one_clock(2), {});
  ASSERT_EQ(by_time.steps.size(), 16U);
  EXPECT_EQ(by_time.steps.front().row, (std::vector<uint32_t>{2, 0}));
}

TEST(JobSteps, TakeTheLongestWhereClocksAreNotComparable) {
  const std::vector<RankPart> parts = of_slower_second_rank().make();
  std::vector<profile::RankClock> clocks = one_clock(2);
  clocks[1].method = profile::ClockMethod::none;
  const JobSteps made = make_job_steps(parts, clocks, {});
  ASSERT_EQ(made.steps.size(), 20U);
  EXPECT_EQ(made.steps[0].end - made.steps[0].start, parts[1].step_end[0] - parts[1].step_start[0]);
}

TEST(JobSteps, KeepWarmupApart) {
  TestJob job;
  job.warmup_steps = 3;
  const JobSteps made = make_job_steps(job.make(), one_clock(2), {});
  ASSERT_EQ(made.instances.size(), 2U);
  EXPECT_TRUE(made.instances[0].warmup);
  EXPECT_FALSE(made.instances[1].warmup);
  EXPECT_TRUE(made.steps[2].warmup);
  EXPECT_FALSE(made.steps[3].warmup);
  EXPECT_EQ(made.steps[3].step_of_instance, 0U);
}

}  // namespace
}  // namespace llmprof::job
