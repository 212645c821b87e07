#include "analysis/result/judgements.h"

#include <gtest/gtest.h>

#include "testing/sample_profile.h"

namespace llmprof::analysis {
namespace {

using profile::Share;

// A profile whose second stage, a decode of 18 ms, has this budget.
profile::Profile with_budget(const std::vector<testing::PartTime>& parts) {
  profile::Profile profile = testing::full_sample();
  testing::set_budget(profile.stages[1], parts);
  add_judgements(profile);
  return profile;
}

TEST(Judgements, TellLittleIdleTimeFromMuch) {
  const auto idle_of = [](double milliseconds) {
    return with_budget({{"gemm", 18 - milliseconds}, {"idle: launch-bound", milliseconds, true}})
        .stages[1]
        .judgement.idle;
  };
  EXPECT_EQ(idle_of(0.8), "little");
  EXPECT_EQ(idle_of(0.9), "some");
  EXPECT_EQ(idle_of(4.4), "some");
  EXPECT_EQ(idle_of(4.5), "much");
}

TEST(Judgements, SayNothingWithoutABudget) {
  profile::Profile profile = testing::full_sample();
  profile.stages[1].budget.reset();
  profile.stages[1].idle.reset();
  profile.stages[1].idle_share_of_wall.reset();
  add_judgements(profile);
  EXPECT_FALSE(profile.stages[1].judgement.idle.has_value());
  EXPECT_FALSE(profile.stages[1].judgement.mostly_idle);
  EXPECT_FALSE(profile.stages[1].judgement.waits_for_host);
}

// Idle parts together against the longest part that is work; what was not traced is neither.
TEST(Judgements, CompareIdleTimeWithTheLongestWork) {
  EXPECT_TRUE(with_budget({{"gemm", 8}, {"idle: launch-bound", 9, true}, {"attention", 1}})
                  .stages[1]
                  .judgement.mostly_idle);
  EXPECT_FALSE(with_budget({{"gemm", 9}, {"idle: launch-bound", 8, true}, {"attention", 1}})
                   .stages[1]
                   .judgement.mostly_idle);
  EXPECT_TRUE(with_budget({{"gemm", 2}, {"idle: launch-bound", 3, true}, {"not traced", 13}})
                  .stages[1]
                  .judgement.mostly_idle);
}

TEST(Judgements, BlameTheHostForMoreThanHalfOfTheIdleTime) {
  EXPECT_TRUE(with_budget({{"gemm", 9},
                           {"idle: synchronisation", 5, true},
                           {"idle: between queued kernels", 4, true}})
                  .stages[1]
                  .judgement.waits_for_host);
  EXPECT_FALSE(with_budget({{"gemm", 9},
                            {"idle: synchronisation", 4, true},
                            {"idle: between queued kernels", 5, true}})
                   .stages[1]
                   .judgement.waits_for_host);
}

TEST(Judgements, DoubtAStageThatReachesItsPeakAlthoughItWaits) {
  profile::Profile profile = testing::full_sample();
  profile::Stage& decode = profile.stages[1];
  add_judgements(profile);
  EXPECT_EQ(decode.judgement.limit, "room");
  decode.mbu.wall = Share{0.7};
  add_judgements(profile);
  EXPECT_EQ(decode.judgement.limit, "implausible");
  testing::set_budget(decode, {{"gemm", 17}, {"idle: launch-bound", 1, true}});
  add_judgements(profile);
  EXPECT_EQ(decode.judgement.limit, "near");
  decode.mfu.gpu_busy.reset();
  add_judgements(profile);
  EXPECT_FALSE(decode.judgement.limit.has_value());
}

TEST(Judgements, SayWhetherStagesSpeakForTheCapture) {
  profile::Profile profile = testing::full_sample();
  profile.coverage->kernel_sum_share = Share{0.9};
  add_judgements(profile);
  EXPECT_TRUE(profile.coverage->representative);
  profile.coverage->kernel_sum_share = Share{0.89};
  add_judgements(profile);
  EXPECT_FALSE(profile.coverage->representative);
}

// The hand-made profiles that tests of reports read carry what this says of them.
TEST(Judgements, AgreeWithTheSamples) {
  for (profile::Profile profile : {testing::full_sample(), testing::duty_sample(),
                                   testing::profiler_sample(), testing::serving_sample()}) {
    const profile::Profile made = profile;
    add_judgements(profile);
    for (size_t i = 0; i < made.stages.size(); ++i) {
      EXPECT_EQ(made.stages[i].judgement.idle, profile.stages[i].judgement.idle) << i;
      EXPECT_EQ(made.stages[i].judgement.mostly_idle, profile.stages[i].judgement.mostly_idle) << i;
      EXPECT_EQ(made.stages[i].judgement.waits_for_host, profile.stages[i].judgement.waits_for_host)
          << i;
      EXPECT_EQ(made.stages[i].judgement.limit, profile.stages[i].judgement.limit) << i;
    }
    if (made.coverage) {
      EXPECT_EQ(made.coverage->representative, profile.coverage->representative);
    }
  }
}

}  // namespace
}  // namespace llmprof::analysis
