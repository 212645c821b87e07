#include <gtest/gtest.h>

#include "testing/job_parts.h"

namespace llmprof::job {
namespace {

TEST(Stragglers, IncludeASingleDelay) {
  TestJob job = uneven_job();
  job.steps = 100;
  job.clocks[1] = {-7'000'000'000, -35e-6};
  job.work = [](uint32_t rank, uint32_t n) {
    return TestJob::Work{uneven(n) + (rank == 1 && n == 300 ? 1'000'000 : 0), 0};
  };
  const RankComparison found = compared(job.make());
  ASSERT_EQ(found.job.stragglers.size(), 1);
  const profile::Straggler& straggler = found.job.stragglers[0];
  EXPECT_EQ(straggler.rank, 1);
  EXPECT_EQ(straggler.stage, "decode");
  EXPECT_EQ(straggler.cause, profile::StragglerCause::longer_kernels);
  EXPECT_NEAR(straggler.wait_total.value, 1, 5 * kMicrosecond);
  EXPECT_NEAR(straggler.wait_per_step.value, 1.0 / 100, kMicrosecond);
  ASSERT_EQ(straggler.why.size(), 2);
  EXPECT_EQ(straggler.why[0].kind, profile::ReasonKind::rank_single_delays);
  EXPECT_EQ(straggler.why[1].kind, profile::ReasonKind::rank_busy_longer);
  ASSERT_FALSE(found.findings.empty());
  const auto& finding =
      *std::find_if(found.findings.begin(), found.findings.end(),
                    [](const auto& each) { return each.kind == profile::FindingKind::straggler; });
  EXPECT_NEAR(finding.total_saving->value, 1, 5 * kMicrosecond);
  EXPECT_NEAR(finding.saving_per_output_token->value, 1.0 / 100, kMicrosecond);
  EXPECT_NEAR(finding.saving_per_token->value, 1.0 / 100, kMicrosecond);
}

TEST(Stragglers, HaveACause) {
  TestJob late;
  late.work = [](uint32_t rank, uint32_t) {
    return TestJob::Work{200'000, rank == 0 ? 100'000 : 0};
  };
  RankComparison found = compared(late.make());
  ASSERT_EQ(found.job.stragglers.size(), 1);
  EXPECT_EQ(found.job.stragglers[0].rank, 0);
  EXPECT_EQ(found.job.stragglers[0].cause, profile::StragglerCause::late_launch);
  EXPECT_EQ(found.job.stragglers[0].why[0].kind, profile::ReasonKind::rank_launched_later);

  // 40 us of longer kernels and 60 us without any kernel: the latter is the larger part.
  TestJob both;
  both.work = [](uint32_t rank, uint32_t) {
    return rank == 0 ? TestJob::Work{240'000, 60'000} : TestJob::Work{200'000, 0};
  };
  found = compared(both.make());
  ASSERT_EQ(found.job.stragglers.size(), 1);
  const profile::Straggler& mostly_late = found.job.stragglers[0];
  EXPECT_EQ(mostly_late.cause, profile::StragglerCause::late_launch);
  ASSERT_EQ(mostly_late.why[0].values.size(), 3);
  EXPECT_NEAR(mostly_late.why[0].values[2].value.value(), 8 * 0.04, kMicrosecond);

  TestJob slow;
  slow.work = [](uint32_t rank, uint32_t) {
    return TestJob::Work{rank == 1 ? 300'000 : 200'000, 0};
  };
  auto parts = slow.make();
  std::vector<profile::Step> steps = parts[1].steps.unpacked();
  for (auto& step : steps) step.tokens = 4;
  parts[1].steps = PackedSteps(steps);
  found = compared(parts);
  ASSERT_EQ(found.job.stragglers.size(), 1);
  EXPECT_EQ(found.job.stragglers[0].cause, profile::StragglerCause::more_tokens);

  parts = slow.make();
  for (size_t rank = 0; rank < 2; ++rank) {
    auto& measured = parts[rank].profile.stages[0].measured.emplace();
    measured.sm_clock.emplace();
    measured.sm_clock->mean = profile::Hertz{rank == 1 ? 1.3e9 : 1.98e9};
  }
  found = compared(parts);
  ASSERT_EQ(found.job.stragglers.size(), 1);
  EXPECT_EQ(found.job.stragglers[0].cause, profile::StragglerCause::lower_clock);

  parts = slow.make();
  for (auto& part : parts) {
    change_collectives(part, [](analysis::Collectives& of) {
      std::fill(of.busy_before.begin(), of.busy_before.end(), 200'000);
      std::fill(of.launched.begin(), of.launched.end(), analysis::Collectives::kNotKnown);
    });
  }
  found = compared(parts);
  ASSERT_EQ(found.job.stragglers.size(), 1);
  EXPECT_EQ(found.job.stragglers[0].cause, profile::StragglerCause::unknown);
}

TEST(Stragglers, AreNotMadeByNoise) {
  TestJob job = uneven_job();
  job.steps = 200;
  uint32_t seed = 1;
  std::vector<Nanoseconds> noise(4096);
  for (Nanoseconds& each : noise) {
    seed = seed * 1664525U + 1013904223U;
    each = seed >> 18U;  // 0 to 16 us
  }
  job.clocks[1] = {300'000, 20e-6};
  job.work = [&](uint32_t rank, uint32_t n) {
    return TestJob::Work{uneven(n) + noise[(2 * n + rank) % noise.size()], 0};
  };
  job.jitter = [&](uint32_t rank, uint32_t n) {
    return noise[(n * 7 + rank * 31) % noise.size()] / 8;
  };
  const RankComparison found = compared(job.make());
  EXPECT_TRUE(found.job.stragglers.empty());
  EXPECT_LE(found.clocks[1].residual_p50->value, 2 * kMicrosecond);
  EXPECT_NEAR(found.clocks[1].drift_ppm, 20, 1);
}

}  // namespace
}  // namespace llmprof::job
