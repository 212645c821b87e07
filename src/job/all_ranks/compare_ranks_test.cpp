#include <gtest/gtest.h>

#include "testing/job_parts.h"

namespace llmprof::job {
namespace {

double wait_of(const RankComparison& comparison, size_t part) {
  return comparison.per_rank[part][0].wait.value;
}

TEST(CompareRanks, RecoversClocksFromCollectives) {
  TestJob job = uneven_job();
  job.clocks[1] = {300'000, 20e-6};
  const RankComparison found = compared(job.make());
  ASSERT_EQ(found.clocks.size(), 2);
  EXPECT_EQ(found.clocks[0].method, profile::ClockMethod::reference);
  EXPECT_EQ(found.clocks[1].method, profile::ClockMethod::collectives);
  EXPECT_EQ(found.clocks[1].collectives, 160);
  EXPECT_NEAR(static_cast<double>(found.clocks[1].offset_ns.value), 300'000, 1'000);
  EXPECT_NEAR(found.clocks[1].drift_ppm, 20, 0.5);
  EXPECT_LE(found.clocks[1].residual_max->value, 1 * kMicrosecond);
  EXPECT_TRUE(found.job.stragglers.empty());
  // All ranks arrived together, so none waited.
  EXPECT_LT(wait_of(found, 0), 1 * kMicrosecond * job.per_step);
}

// Rank 1 computes 1.5 times as long: 8 x 100 us more per step, for which rank 0 waits.
TEST(CompareRanks, FindsASlowRank) {
  TestJob job;
  job.warmup_steps = 2;
  job.work = [](uint32_t rank, uint32_t) {
    return TestJob::Work{rank == 1 ? 300'000 : 200'000, 0};
  };
  const RankComparison found = compared(job.make());
  ASSERT_EQ(found.job.stragglers.size(), 1);
  EXPECT_EQ(found.job.stragglers[0].rank, 1);
  EXPECT_EQ(found.job.stragglers[0].cause, profile::StragglerCause::longer_kernels);
  EXPECT_NEAR(found.job.stragglers[0].wait_per_step.value, 0.8, kMicrosecond);
  EXPECT_NEAR(found.job.stragglers[0].wait_total.value, 18 * 0.8, 18 * kMicrosecond);
  EXPECT_NEAR(found.job.stragglers[0].last_share.value, 1, 1e-9);
  EXPECT_NEAR(found.job.stragglers[0].share_of_step->value, 0.8 / (8 * 0.33), 1e-3);

  ASSERT_EQ(found.per_rank[0].size(), 1);
  const profile::RankStage& rank0 = found.per_rank[0][0];
  const profile::RankStage& rank1 = found.per_rank[1][0];
  EXPECT_EQ(rank0.steps, 18);
  EXPECT_NEAR(rank0.wall.value, 8 * 0.33, kMicrosecond);
  EXPECT_NEAR(rank0.compute.value, 8 * 0.2, kMicrosecond);
  EXPECT_NEAR(rank0.wait.value, 8 * 0.1, kMicrosecond);
  EXPECT_NEAR(rank0.transfer.value, 8 * 0.03, kMicrosecond);
  EXPECT_NEAR(rank0.idle.value, 0, kMicrosecond);
  EXPECT_NEAR(rank1.compute.value, 8 * 0.3, kMicrosecond);
  EXPECT_NEAR(rank1.wait.value, 0, kMicrosecond);
  EXPECT_NEAR(rank1.caused_wait.value, 8 * 0.1, kMicrosecond);
  for (const auto* rank : {&rank0, &rank1}) {
    EXPECT_NEAR(rank->compute.value + rank->transfer.value + rank->wait.value + rank->copies.value +
                    rank->idle.value,
                rank->wall.value, 1e-9);
  }

  ASSERT_EQ(found.job.collectives.size(), 1);
  const profile::JobCollective& collective = found.job.collectives[0];
  EXPECT_EQ(collective.kind, CollectiveKind::all_reduce);
  EXPECT_EQ(collective.matched, 18 * 8);
  EXPECT_EQ(collective.unmatched, 0);
  EXPECT_NEAR(*collective.per_step, 8, 1e-9);
  EXPECT_NEAR(collective.latency.p50->value, 0.03, kMicrosecond);
  EXPECT_NEAR(collective.wait.mean->value, 0.1, kMicrosecond);
  EXPECT_EQ(collective.last_rank, 1);
  // Each of the two ranks moves 16 KiB once, in 30 us.
  EXPECT_NEAR(collective.wire_bandwidth->value, 16384 / 30e-6, 16384 / 30e-6 * 0.05);
  EXPECT_FALSE(collective.lower_bound);
  ASSERT_EQ(found.job.groups.size(), 1);
  EXPECT_EQ(found.job.groups[0].parallelism, profile::Parallelism::tensor);
  EXPECT_EQ(found.job.steps_matched, 20);
  EXPECT_EQ(found.steps.size(), 20);
  EXPECT_EQ(found.instances.size(), 2);
  EXPECT_TRUE(found.instances[0].warmup);
  EXPECT_EQ(found.job.heat.rows.size(), 2);
  EXPECT_EQ(found.job.heat.rows[0].wait_ms.size(), 20);
  EXPECT_NEAR(found.job.heat.rows[0].wait_ms[5], 0.8, kMicrosecond);
  EXPECT_NEAR(found.job.heat.rows[0].wall_ms[5], 8 * 0.23, kMicrosecond);
}

TEST(CompareRanks, CallsWaitsOfAPartOfTheGroupLowerBounds) {
  TestJob job;
  job.group = {"pg", "", 128, true};
  auto parts = job.make();
  for (auto& part : parts) part.identity.world_size = 128;
  const RankComparison found = compared(parts);
  EXPECT_TRUE(found.job.lower_bound);
  EXPECT_EQ(found.job.world_size, 128);
  EXPECT_EQ(found.job.missing.size(), 126);
  ASSERT_EQ(found.job.collectives.size(), 1);
  EXPECT_TRUE(found.job.collectives[0].lower_bound);
  EXPECT_EQ(found.job.groups[0].size, 128);
  EXPECT_EQ(found.job.groups[0].ranks, (std::vector<uint64_t>{0, 1}));
}

// No numbers, no clocks: only kinds, sizes and the times between ends.
TEST(CompareRanks, MatchesCapturesThatBeginAndEndElsewhere) {
  TestJob job = uneven_job();
  job.ranks = 3;
  job.steps = 60;
  job.numbered = false;
  job.clocks[1] = {123'456'789'000, 20e-6};
  job.clocks[2] = {-55'000'000, -10e-6};
  job.work = [](uint32_t rank, uint32_t n) {
    return TestJob::Work{uneven(n) + (rank == 2 ? 50'000 : 0), 0};
  };
  auto parts = job.make();
  cut(parts[1], 12 * 8, 60 * 8);
  cut(parts[2], 0, 45 * 8);
  const RankComparison found = compared(parts);
  ASSERT_EQ(found.job.collectives.size(), 1);
  EXPECT_EQ(found.job.collectives[0].matched, (45 - 12) * 8);
  EXPECT_EQ(found.job.steps_matched, 45 - 12);
  EXPECT_EQ(found.job.steps_unmatched, (60 - 33) + (48 - 33) + (45 - 33));
  EXPECT_NEAR(static_cast<double>(found.clocks[1].offset_ns.value), 123'456'789'000, 2'000'000);
  EXPECT_LE(found.clocks[1].residual_max->value, 1 * kMicrosecond);
  ASSERT_EQ(found.job.stragglers.size(), 1);
  EXPECT_EQ(found.job.stragglers[0].rank, 2);
  EXPECT_NEAR(found.job.stragglers[0].wait_per_step.value, 0.4, kMicrosecond);
  EXPECT_EQ(found.steps.front().row, (std::vector<uint32_t>{12, 0, 12}));
}

// Replays of CUDA graphs have no group, number or size.
TEST(CompareRanks, MatchesByOrderAndKindAlone) {
  TestJob job = uneven_job();
  job.numbered = false;
  job.in_graph = true;
  job.group.stated = false;
  job.bytes.reset();
  job.clocks[1] = {300'000, 20e-6};
  job.work = [](uint32_t rank, uint32_t n) {
    return TestJob::Work{uneven(n) + (rank == 0 ? 60'000 : 0), 0};
  };
  const RankComparison found = compared(job.make());
  ASSERT_EQ(found.job.collectives.size(), 1);
  EXPECT_EQ(found.job.collectives[0].matched, 160);
  EXPECT_TRUE(found.job.collectives[0].in_graph);
  EXPECT_FALSE(found.job.collectives[0].bytes);
  ASSERT_EQ(found.job.stragglers.size(), 1);
  EXPECT_EQ(found.job.stragglers[0].rank, 0);
  EXPECT_NEAR(found.job.stragglers[0].wait_per_step.value, 0.48, kMicrosecond);
}

// The capture lost collectives in between: those that follow are matched by time.
TEST(CompareRanks, MatchesAcrossLostCollectives) {
  for (const bool with_clock : {true, false}) {
    TestJob job = uneven_job();
    job.steps = 60;
    job.numbered = false;
    job.clocks[1] = {300'000, 20e-6};
    auto parts = job.make();
    for (RankPart& part : parts) {
      if (with_clock) part.identity.wall_clock_ns = 1'700'000'000'000'000'000;
      if (part.identity.rank == 0) continue;
      const auto lose = [&](auto& column) {
        column.erase(column.begin() + 100, column.begin() + 103);
        column.erase(column.begin() + 300, column.begin() + 301);
      };
      change_collectives(part, [&](analysis::Collectives& of) {
        lose(of.start);
        lose(of.end);
        lose(of.launched);
        lose(of.exposed);
        lose(of.busy_before);
        lose(of.key);
        lose(of.step);
        lose(of.sequence);
        lose(of.in_graph);
      });
    }
    const RankComparison found = compared(parts);
    ASSERT_EQ(found.job.collectives.size(), 1);
    EXPECT_EQ(found.job.collectives[0].matched, 480 - 4) << with_clock;
    EXPECT_EQ(found.job.collectives[0].unmatched, 4);
    EXPECT_LE(found.clocks[1].residual_max->value, 1 * kMicrosecond);
    EXPECT_TRUE(found.job.stragglers.empty());
  }
}

TEST(CompareRanks, SeparatesHiddenFromExposed) {
  TestJob job;
  job.exposed = 0.25;
  const RankComparison found = compared(job.make());
  const profile::RankStage& rank = found.per_rank[0][0];
  EXPECT_NEAR(rank.transfer.value, 8 * 0.03 * 0.25, kMicrosecond);
  EXPECT_NEAR(rank.hidden_communication.value, 8 * 0.03 * 0.75, kMicrosecond);
  EXPECT_NEAR(found.job.collectives[0].exposed_total.value, 2 * 20 * 8 * 0.03 * 0.25, 1e-3);
  EXPECT_NEAR(found.job.collectives[0].hidden_total.value, 2 * 20 * 8 * 0.03 * 0.75, 1e-3);
}

// Four ranks in two pairs of tensor parallelism; the second pair is the later pipeline stage.
std::vector<RankPart> tensor_and_pipeline(bool with_members) {
  std::vector<RankPart> all;
  for (uint32_t stage = 0; stage < 2; ++stage) {
    TestJob job = uneven_job();
    job.group = {"tp", with_members ? (stage == 0 ? "0,1" : "2,3") : "", 2, true};
    job.begin += stage * 2'000'000;
    for (RankPart& part : job.make()) {
      part.identity.rank += stage * 2;
      part.identity.world_size = 4;
      // Activations go from the first pair to the second at the end of each step.
      const uint32_t pipeline = 1;
      analysis::CollectiveKey key;
      key.kind = stage == 0 ? CollectiveKind::send : CollectiveKind::receive;
      key.bytes = 8192;
      key.group = "pp";
      key.group_stated = true;
      key.group_size = 2;
      if (with_members) key.members = part.identity.rank % 2 == 0 ? "0,2" : "1,3";
      analysis::Collectives to = part.collectives.unpacked();
      to.keys.push_back(key);
      analysis::Collectives merged;
      merged.keys = to.keys;
      for (size_t i = 0; i < to.size(); ++i) {
        const auto copy = [&](Nanoseconds start, Nanoseconds end, uint32_t of, uint64_t number) {
          merged.start.push_back(start);
          merged.end.push_back(end);
          merged.launched.push_back(start);
          merged.exposed.push_back(end - start);
          merged.busy_before.push_back(of == pipeline ? 0 : to.busy_before[i]);
          merged.key.push_back(of);
          merged.step.push_back(to.step[i]);
          merged.sequence.push_back(number);
          merged.in_graph.push_back(0);
        };
        if (stage == 1 && i % 8 == 0)
          copy(to.start[i] - 60'000, to.start[i] - 50'000, pipeline, i / 8);
        copy(to.start[i], to.end[i], 0, i);
        if (stage == 0 && i % 8 == 7) copy(to.end[i], to.end[i] + 10'000, pipeline, i / 8);
      }
      part.collectives = PackedCollectives(std::move(merged));
      all.push_back(std::move(part));
    }
  }
  for (RankPart& part : all) {
    part.identity.clock_domain = "host";
    part.identity.clock_ns = 0;
    part.identity.host = "host";
  }
  return all;
}

TEST(CompareRanks, SeparatesGroups) {
  for (const bool with_members : {true, false}) {
    const RankComparison found = compared(tensor_and_pipeline(with_members));
    ASSERT_EQ(found.job.groups.size(), 4) << with_members;
    std::vector<std::pair<std::string, std::vector<uint64_t>>> groups;
    for (const auto& group : found.job.groups)
      groups.emplace_back(to_string(group.parallelism), group.ranks);
    std::sort(groups.begin(), groups.end());
    using Ranks = std::vector<uint64_t>;
    EXPECT_EQ(groups[0], std::pair(std::string("pipeline"), Ranks{0, 2}));
    EXPECT_EQ(groups[1], std::pair(std::string("pipeline"), Ranks{1, 3}));
    EXPECT_EQ(groups[2], std::pair(std::string("tensor"), Ranks{0, 1}));
    EXPECT_EQ(groups[3], std::pair(std::string("tensor"), Ranks{2, 3}));
    EXPECT_EQ(found.clocks[3].method, profile::ClockMethod::shared);
    EXPECT_TRUE(found.job.stragglers.empty());
    EXPECT_TRUE(found.job.pipeline_bubble_share.has_value());
    EXPECT_EQ(found.job.steps_matched, 20);
  }
}

// Replicas that never communicate: steps match by order, and the slower rank has longer steps.
TEST(CompareRanks, ComparesRanksWithoutCollectives) {
  TestJob job = uneven_job();
  job.steps = 30;
  auto parts = job.make();
  TestJob slow = job;
  slow.work = [](uint32_t, uint32_t n) { return TestJob::Work{2 * uneven(n), 0}; };
  parts[1] = slow.make()[1];
  for (RankPart& part : parts) {
    part.collectives = PackedCollectives();
    part.identity.wall_clock_ns = 1'700'000'000'000'000'000 + 5'000'000 * part.identity.rank;
  }
  const RankComparison found = compared(parts);
  EXPECT_EQ(found.clocks[1].method, profile::ClockMethod::wall_clock);
  EXPECT_EQ(found.clocks[1].offset_ns.value, 5'000'000);
  EXPECT_FALSE(found.clocks[1].residual_p50);
  EXPECT_EQ(found.job.steps_matched, 30);
  ASSERT_EQ(found.job.why_not_reasons.size(), 1);
  EXPECT_EQ(found.job.why_not_reasons[0].kind, profile::ReasonKind::ranks_without_collectives);
  ASSERT_EQ(found.job.stragglers.size(), 1);
  EXPECT_EQ(found.job.stragglers[0].rank, 1);
  EXPECT_EQ(found.job.stragglers[0].why[0].kind, profile::ReasonKind::rank_slower_steps);
  EXPECT_EQ(found.job.stragglers[0].cause, profile::StragglerCause::longer_kernels);

  for (RankPart& part : parts) part.identity.wall_clock_ns.reset();
  const RankComparison unknown = compared(parts);
  EXPECT_EQ(unknown.clocks[1].method, profile::ClockMethod::none);
  EXPECT_EQ(unknown.job.steps_matched, 30);
}

TEST(CompareRanks, NamesMissingAndDeadRanks) {
  TestJob job = uneven_job();
  job.ranks = 3;
  auto parts = job.make();
  parts.erase(parts.begin() + 1);
  parts[1].identity.state = profile::RankState::died;
  parts[0].identity.job = "4711";
  const RankComparison found = compared(parts);
  EXPECT_EQ(found.job.id, "4711");
  EXPECT_EQ(found.job.world_size, 3);
  EXPECT_EQ(found.job.recorded, 2);
  EXPECT_EQ(found.job.missing, std::vector<uint64_t>{1});
  EXPECT_EQ(found.job.died, std::vector<uint64_t>{2});
  EXPECT_TRUE(found.job.lower_bound);
}

TEST(CompareRanks, TakesAnything) {
  EXPECT_EQ(compared({}).job.recorded, 0);
  std::vector<RankPart> empty(2);
  empty[1].identity.rank = 1;
  EXPECT_EQ(compared(empty).steps.size(), 0);
  TestJob job = uneven_job();
  auto parts = job.make();
  parts[1] = RankPart();
  parts[1].identity.rank = 1;
  const RankComparison found = compared(parts);
  EXPECT_EQ(found.job.collectives.at(0).matched, 0);
  EXPECT_EQ(found.job.collectives.at(0).unmatched, 160);
  // Without stages, the whole timeline is compared.
  parts = job.make();
  for (RankPart& part : parts) {
    part.profile.stages.clear();
    part.steps = PackedSteps();
    part.step_start.clear();
    part.step_end.clear();
    change_collectives(part, [](analysis::Collectives& of) {
      std::fill(of.step.begin(), of.step.end(), analysis::Collectives::kNoStep);
    });
  }
  const RankComparison outside = compared(parts);
  ASSERT_EQ(outside.job.collectives.size(), 1);
  EXPECT_FALSE(outside.job.collectives[0].stage);
  EXPECT_EQ(outside.job.collectives[0].matched, 160);
}

}  // namespace
}  // namespace llmprof::job
