#include "job/waits/measure_waits.h"

#include <gtest/gtest.h>

#include "testing/job_parts.h"

namespace llmprof::job {
namespace {

// Everything that measuring waits needs.
struct Measured {
  explicit Measured(std::vector<RankPart> made)
      : parts(std::move(made)),
        lanes(find_lanes(parts, {})),
        matched(match_collectives(parts, lanes)),
        clocks(one_clock(parts.size())),
        steps(make_job_steps(parts, clocks, same_steps(parts, matched))),
        units(parts, steps),
        waits(measure_waits(parts, lanes, matched, clocks, units, 1)) {}

  std::vector<RankPart> parts;
  Lanes lanes;
  std::vector<MatchedLane> matched;
  std::vector<profile::RankClock> clocks;
  JobSteps steps;
  Units units;
  Waits waits;
};

// Rank 1 is 100 us late at each of the 8 collectives of 20 steps.
TestJob of_late_rank() {
  TestJob job;
  job.work = [](uint32_t rank, uint32_t) {
    return TestJob::Work{rank == 1 ? 300'000 : 200'000, 0};
  };
  return job;
}

TEST(MeasureWaits, AreOfTheOthersUntilTheLastRankComes) {
  const Measured found(of_late_rank().make());
  ASSERT_EQ(found.waits.by_stage.size(), 1U);
  const RankCommunication& early = found.waits.by_stage[0][0];
  const RankCommunication& late = found.waits.by_stage[0][1];
  EXPECT_DOUBLE_EQ(early.wait, 160 * 100'000.0);
  EXPECT_DOUBLE_EQ(early.transfer, 160 * 30'000.0);
  EXPECT_DOUBLE_EQ(late.wait, 0);
  EXPECT_DOUBLE_EQ(late.transfer, 160 * 30'000.0);
  EXPECT_DOUBLE_EQ(late.caused, 160 * 100'000.0);
  ASSERT_EQ(found.waits.matches.size(), 1U);
  const MatchTimes times = found.waits.matches[0][7];
  EXPECT_EQ(times.last, 1U);
  EXPECT_EQ(times.longest_wait, 100'000);
  EXPECT_EQ(times.end - times.arrival, 30'000);
}

TEST(MeasureWaits, SumUpByKindAndSize) {
  const Measured found(of_late_rank().make());
  ASSERT_EQ(found.waits.collectives.size(), 1U);
  const auto& [key, sums] = *found.waits.collectives.begin();
  EXPECT_EQ(key.kind, CollectiveKind::all_reduce);
  EXPECT_EQ(key.bytes, 16384U);
  EXPECT_EQ(sums.latency.size(), 160U);
  EXPECT_EQ(sums.unmatched, 0U);
  EXPECT_EQ(sums.last.at(1), 160U);
  EXPECT_DOUBLE_EQ(sums.wait_total, 160 * 100'000.0);
  EXPECT_DOUBLE_EQ(sums.transfer_total, 2 * 160 * 30'000.0);
}

TEST(MeasureWaits, LeaveWarmupAndUnmatchedOnesOut) {
  TestJob job = of_late_rank();
  job.warmup_steps = 5;
  std::vector<RankPart> parts = job.make();
  const Measured found(std::move(parts));
  EXPECT_DOUBLE_EQ(found.waits.by_stage[0][0].wait, 120 * 100'000.0);
  EXPECT_EQ(found.units.counted(0), 15U);
}

TEST(RankStages, SumToTheWallTime) {
  const Measured found(of_late_rank().make());
  const auto stages =
      rank_stages({found.parts, found.lanes, found.matched, found.units, found.waits});
  ASSERT_EQ(stages.size(), 2U);
  ASSERT_EQ(stages[0].size(), 1U);
  const profile::RankStage& early = stages[0][0];
  EXPECT_NEAR(early.wall.value, 8 * 0.33, 1e-9);
  EXPECT_NEAR(early.wait.value, 8 * 0.1, 1e-9);
  EXPECT_NEAR(early.compute.value + early.transfer.value + early.wait.value + early.idle.value,
              early.wall.value, 1e-9);
}

TEST(Units, AreStepsOrInstances) {
  const Measured by_step(TestJob().make());
  EXPECT_EQ(by_step.units.units().size(), 20U);
  EXPECT_TRUE(by_step.units.by_step(0));
  EXPECT_EQ(by_step.units.unit_of(1, 9), 1U);
  EXPECT_EQ(by_step.units.row(3, 1), 3U);
}

}  // namespace
}  // namespace llmprof::job
