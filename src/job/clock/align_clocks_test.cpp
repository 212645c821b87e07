#include "job/clock/align_clocks.h"

#include <gtest/gtest.h>

#include "testing/job_parts.h"

namespace llmprof::job {
namespace {

// The first clock as a function of the second: offset + (1 + drift) * t.
SameMoments moments_of(uint32_t first, uint32_t second, Nanoseconds offset, double drift) {
  SameMoments moments{first, second, {}, {}};
  for (Nanoseconds i = 0; i < 90; ++i) {
    const Nanoseconds time = 1'000'000'000 + i * 1'000'000;
    moments.on_second.push_back(time);
    moments.on_first.push_back(time + offset + std::llround(drift * static_cast<double>(time)));
  }
  return moments;
}

TEST(FitClock, RecoversOffsetAndDriftBesideOutliers) {
  SameMoments moments = moments_of(0, 1, -700'000, 30e-6);
  for (size_t i = 0; i < moments.on_first.size(); i += 4) moments.on_first[i] += 5'000'000;
  const ClockFit fit = fit_clock(moments.on_first, moments.on_second);
  EXPECT_NEAR(fit.drift, 30e-6, 1e-8);
  EXPECT_NEAR(static_cast<double>(fit.offset), -700'000, 50);
}

TEST(FitClock, TakesNoDriftFromFewMoments) {
  const ClockFit fit = fit_clock({1'000, 2'100, 3'000}, {900, 2'000, 2'900});
  EXPECT_EQ(fit.offset, 100);
  EXPECT_EQ(fit.drift, 0);
  EXPECT_EQ(fit_clock({}, {}).offset, 0);
}

TEST(StatedClocks, AreSharedInADomainElseOfTheWall) {
  RankIdentity first;
  RankIdentity second;
  EXPECT_FALSE(stated_clocks(first, second).shared || stated_clocks(first, second).wall);
  first.wall_clock_ns = 500;
  second.wall_clock_ns = 800;
  EXPECT_TRUE(stated_clocks(first, second).wall);
  EXPECT_EQ(stated_clocks(first, second).offset, 300);
  first.clock_domain = second.clock_domain = "boot";
  first.clock_ns = 10;
  second.clock_ns = 30;
  EXPECT_TRUE(stated_clocks(first, second).shared);
  EXPECT_EQ(stated_clocks(first, second).offset, 20);
}

TEST(AlignClocks, JoinsByDomainThenCollectivesThenWallClocks) {
  std::vector<RankPart> parts(5);
  for (uint32_t i = 0; i < parts.size(); ++i) parts[i].identity.rank = i;
  parts[0].identity.clock_domain = parts[1].identity.clock_domain = "boot";
  parts[0].identity.clock_ns = 100;
  parts[1].identity.clock_ns = 350;
  parts[2].identity.wall_clock_ns = 1'000;
  parts[3].identity.wall_clock_ns = 4'000;
  const auto clocks = align_clocks(parts, {moments_of(0, 2, 40'000, 0)});
  ASSERT_EQ(clocks.size(), 5U);
  EXPECT_EQ(clocks[0].method, profile::ClockMethod::reference);
  EXPECT_EQ(clocks[1].method, profile::ClockMethod::shared);
  EXPECT_EQ(clocks[1].offset_ns.value, 250);
  EXPECT_EQ(clocks[2].method, profile::ClockMethod::collectives);
  EXPECT_EQ(clocks[2].offset_ns.value, 40'000);
  EXPECT_EQ(clocks[2].collectives, 90U);
  EXPECT_EQ(clocks[2].residual_max->value, 0);
  EXPECT_EQ(clocks[3].method, profile::ClockMethod::wall_clock);
  EXPECT_EQ(clocks[3].offset_ns.value, 43'000);
  EXPECT_EQ(clocks[4].method, profile::ClockMethod::none);
  EXPECT_EQ(job_time(clocks[3], 7), 43'007);
}

TEST(ReferencePart, IsTheLowestRankThatWorked) {
  std::vector<RankPart> parts(3);
  parts[0].identity.rank = 2;
  parts[1].identity.rank = 1;
  parts[2].identity.rank = 0;
  EXPECT_EQ(reference_part(parts), 2U);
  parts[0].step_start = parts[1].step_start = {1};
  EXPECT_EQ(reference_part(parts), 1U);
}

}  // namespace
}  // namespace llmprof::job
