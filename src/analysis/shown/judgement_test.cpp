#include "analysis/shown/shown.h"

#include <gtest/gtest.h>

#include "testing/sample_profile.h"
#include "testing/shown.h"

namespace llmprof::analysis::shown {
namespace {

using profile::Share;

profile::StageJudgement judged(const profile::Stage& stage) {
  profile::Profile profile;
  profile.stages = {stage};
  return testing::shown(profile).stages[0].judgement;
}

// Judges a decode of 18 ms in total with this budget.
profile::StageJudgement with_budget(const std::vector<llmprof::testing::PartTime>& parts) {
  profile::Stage decode = llmprof::testing::full_sample().stages[1];
  llmprof::testing::set_budget(decode, parts);
  return judged(decode);
}

TEST(Judgement, DistinguishesLittleIdleTimeFromMuch) {
  const auto idle_of = [](double milliseconds) {
    return with_budget({{"gemm", 18 - milliseconds}, {"idle: launch-bound", milliseconds, true}})
        .idle;
  };
  EXPECT_EQ(idle_of(0.8), profile::IdleLevel::little);
  EXPECT_EQ(idle_of(1), profile::IdleLevel::some);
  EXPECT_EQ(idle_of(4.4), profile::IdleLevel::some);
  EXPECT_EQ(idle_of(4.5), profile::IdleLevel::much);
}

TEST(Judgement, SaysNothingOfIdleTimeWithoutABudget) {
  profile::Stage decode = llmprof::testing::full_sample().stages[1];
  decode.idle_share_of_wall.reset();
  decode.budget.reset();
  const profile::StageJudgement judgement = judged(decode);
  EXPECT_FALSE(judgement.idle.has_value());
  EXPECT_FALSE(judgement.mostly_idle);
  EXPECT_FALSE(judgement.waits_for_host);
}

// Compares the sum of idle parts with the longest work part; untraced time is neither.
TEST(Judgement, ComparesIdleTimeWithTheLongestWork) {
  EXPECT_TRUE(
      with_budget({{"gemm", 8}, {"idle: launch-bound", 9, true}, {"attention", 1}}).mostly_idle);
  EXPECT_FALSE(
      with_budget({{"gemm", 9}, {"idle: launch-bound", 8, true}, {"attention", 1}}).mostly_idle);
  EXPECT_TRUE(
      with_budget({{"gemm", 2}, {"idle: launch-bound", 3, true}, {"not traced", 13}}).mostly_idle);
}

TEST(Judgement, BlamesTheHostForMoreThanHalfOfTheIdleTime) {
  EXPECT_TRUE(with_budget({{"gemm", 9},
                           {"idle: synchronisation", 5, true},
                           {"idle: between queued kernels", 4, true}})
                  .waits_for_host);
  EXPECT_FALSE(with_budget({{"gemm", 9},
                            {"idle: synchronisation", 4, true},
                            {"idle: between queued kernels", 5, true}})
                   .waits_for_host);
}

TEST(Judgement, DoubtsAStageThatReachesItsPeakAlthoughItWaits) {
  profile::Stage decode = llmprof::testing::full_sample().stages[1];
  EXPECT_EQ(judged(decode).limit, profile::Limit::room);
  decode.mbu.wall = Share{0.7};
  EXPECT_EQ(judged(decode).limit, profile::Limit::implausible);
  llmprof::testing::set_budget(decode, {{"gemm", 17}, {"idle: launch-bound", 1, true}});
  EXPECT_EQ(judged(decode).limit, profile::Limit::near);
  decode.mfu.gpu_busy.reset();
  EXPECT_FALSE(judged(decode).limit.has_value());
}

// The hand-made profiles for report tests contain the same judgement.
TEST(Judgement, AgreesWithTheSamples) {
  for (const profile::Profile& profile :
       {llmprof::testing::full_sample(), llmprof::testing::duty_sample(),
        llmprof::testing::serving_sample()}) {
    ASSERT_FALSE(profile.stages.empty());
    for (const profile::Stage& stage : profile.stages) {
      const profile::StageJudgement judgement = judged(stage);
      EXPECT_EQ(stage.judgement.idle, judgement.idle) << stage.name;
      EXPECT_EQ(stage.judgement.mostly_idle, judgement.mostly_idle) << stage.name;
      EXPECT_EQ(stage.judgement.waits_for_host, judgement.waits_for_host) << stage.name;
      EXPECT_EQ(stage.judgement.limit, judgement.limit) << stage.name;
    }
  }
}

}  // namespace
}  // namespace llmprof::analysis::shown
