#include "analysis/shown/shown.h"

#include <gtest/gtest.h>

#include "testing/sample_profile.h"
#include "testing/shown.h"

namespace llmprof::analysis {
namespace {

using profile::Milliseconds;
using profile::Share;

// A prefill that took 9 and 11 ms traced, of which 6 ms busy, and 8 ms untraced.
profile::Stage prefill() {
  profile::Stage stage;
  stage.name = "prefill";
  stage.wall = testing::times({9, 11});
  stage.gpu_busy_share_of_wall = Share{0.6};
  stage.idle = Milliseconds{4};
  stage.idle_share_of_wall = Share{0.4};
  stage.share_of_stage_time = {0.25};
  stage.mfu.wall = Share{0.2};
  stage.mbu.wall = Share{0.4};
  stage.wall_over_floor = 5;
  profile::BudgetPart traced;
  traced.part = part_of_class(profile::KernelClass::gemm);
  traced.time = {10};
  stage.budget = {traced};
  profile::UntracedTimes own;
  own.source = profile::UntracedSource::control_launches;
  own.wall = {8};
  own.added = {2};
  own.added_share = {0.25};
  own.busy = {6};
  own.idle = {2};
  own.idle_share = {0.25};
  own.budget = {{part_of_class(profile::KernelClass::gemm), {6}, {0.75}, std::nullopt, false},
                {profile::TimePart::idle_launch, {2}, {0.25}, std::nullopt, true}};
  stage.untraced = own;
  return stage;
}

// A decode of ten steps in 30 ms, half of it busy; only traced.
profile::Stage decode() {
  profile::Stage stage;
  stage.name = "decode";
  stage.wall = testing::times({30, 30});
  stage.gpu_busy_share_of_wall = Share{0.5};
  stage.idle = Milliseconds{15};
  stage.wall_per_step = Milliseconds{3};
  stage.share_of_stage_time = {0.75};
  stage.untraced_why_not = profile::NoUntracedTime::no_other_time;
  return stage;
}

// The same decode takes 24 ms untraced.
profile::Stage untraced_decode() {
  profile::Stage stage = decode();
  profile::UntracedTimes own;
  own.source = profile::UntracedSource::workload_clock;
  own.wall = {24};
  own.per_step = Milliseconds{2.4};
  own.added = {6};
  own.added_share = {0.25};
  own.busy = {15};
  own.idle = {9};
  own.idle_share = {0.375};
  stage.untraced = own;
  stage.untraced_why_not.reset();
  stage.step_wall = testing::times({3, 3});
  return stage;
}

profile::Profile profile_of(std::vector<profile::Stage> stages) {
  profile::Profile profile;
  profile.stages = std::move(stages);
  profile.token_times.time_to_first_token = testing::times({9, 11});
  profile.token_times.time_per_output_token = testing::times({3, 3});
  profile.token_times.request = Milliseconds{40};
  profile.token_times.tokens_per_s = profile::TokensPerSecond{1000};
  profile.token_times.tokens_per_s_per_sequence = profile::TokensPerSecond{250};
  profile.token_times.gpu_busy_share_of_wall = Share{0.525};
  profile.token_times.by_batch = {{4, testing::times({3, 3}), profile::TokensPerSecond{1000}}};
  return profile;
}

TEST(Shown, ShowsTheTimesOfTheProgramWithoutTracing) {
  const profile::Profile shown = testing::shown(profile_of({prefill(), decode()}));
  const profile::StageShown& stage = shown.stages[0].shown;
  EXPECT_TRUE(stage.without_tracing);
  EXPECT_EQ(shown.stages[0].wall.mean->value, 10) << "as recorded";
  EXPECT_DOUBLE_EQ(stage.wall.mean->value, 8);
  EXPECT_DOUBLE_EQ(stage.wall.min->value, 7.2);  // recorded spread, scaled with the mean
  EXPECT_DOUBLE_EQ(stage.wall.max->value, 8.8);
  EXPECT_EQ(stage.wall.count, 2U);
  EXPECT_EQ(stage.idle->value, 2);
  EXPECT_EQ(stage.idle_share_of_wall->value, 0.25);
  EXPECT_DOUBLE_EQ(stage.gpu_busy_share_of_wall->value, 0.75);
  EXPECT_DOUBLE_EQ(stage.mfu.wall->value, 0.25);
  EXPECT_DOUBLE_EQ(stage.mbu.wall->value, 0.5);
  EXPECT_DOUBLE_EQ(*stage.wall_over_floor, 4);
  ASSERT_EQ(stage.budget->size(), 2U);
  EXPECT_EQ((*stage.budget)[0].time.value, 6);
  EXPECT_EQ((*stage.budget)[0].share.value, 0.75);
  EXPECT_EQ((*stage.budget)[1].part, profile::TimePart::idle_launch);
  EXPECT_TRUE((*stage.budget)[1].idle);
}

// Prefills take 16 of 76 ms, 12 of them busy; decodes take 60 ms, 30 of them busy.
TEST(Shown, SharesAreOfTheTimesThatAreShown) {
  const profile::Profile shown = testing::shown(profile_of({prefill(), decode()}));
  EXPECT_DOUBLE_EQ(shown.stages[0].shown.share_of_stage_time.value, 16.0 / 76);
  EXPECT_DOUBLE_EQ(shown.stages[1].shown.share_of_stage_time.value, 60.0 / 76);
  EXPECT_DOUBLE_EQ(shown.token_times.shown->gpu_busy_share_of_wall->value, 42.0 / 76);
}

TEST(Shown, AStageThatWasOnlyTracedStaysAsItIs) {
  const profile::Profile shown = testing::shown(profile_of({prefill(), decode()}));
  EXPECT_EQ(shown.stages[1].shown.wall.mean->value, 30);
  EXPECT_EQ(shown.stages[1].shown.idle->value, 15);
  EXPECT_EQ(shown.stages[1].shown.wall_per_step->value, 3);
  EXPECT_DOUBLE_EQ(shown.token_times.shown->time_to_first_token->mean->value, 8);
  EXPECT_EQ(shown.token_times.shown->time_per_output_token->mean->value, 3);
  EXPECT_EQ(shown.token_times.shown->tokens_per_s->value, 1000);
  EXPECT_EQ(shown.token_times.shown->request->value,
            40);  // half of it is unknown without tracing
}

TEST(Shown, TokenTimesFollowFromTheStages) {
  const profile::Profile shown = testing::shown(profile_of({prefill(), untraced_decode()}));
  EXPECT_EQ(shown.stages[1].shown.wall_per_step->value, 2.4);
  EXPECT_DOUBLE_EQ(shown.stages[1].shown.step_wall->mean->value, 2.4);
  EXPECT_DOUBLE_EQ(shown.token_times.shown->time_per_output_token->mean->value, 2.4);
  EXPECT_DOUBLE_EQ(shown.token_times.shown->tokens_per_s->value, 1250);
  EXPECT_DOUBLE_EQ(shown.token_times.shown->tokens_per_s_per_sequence->value, 312.5);
  EXPECT_DOUBLE_EQ(shown.token_times.shown->request->value, 32);
  EXPECT_DOUBLE_EQ(shown.token_times.shown->by_batch[0].step_wall.mean->value, 2.4);
  EXPECT_DOUBLE_EQ(shown.token_times.shown->by_batch[0].tokens_per_s->value, 1250);
}

// Windows contain pieces of two decodes: 400 and 20 ms including untraced time, 3 steps each. The
// untraced time may come from between the windows or from the control run.
class PiecesInWindows : public ::testing::TestWithParam<profile::UntracedSource> {};

TEST_P(PiecesInWindows, HaveNoSpread) {
  profile::Stage stage = untraced_decode();
  stage.untraced->source = GetParam();
  stage.untraced->steps_recorded = 6;
  stage.untraced->steps_all = 600;
  stage.wall = testing::times({400, 20});
  profile::Profile recorded = profile_of({prefill(), stage});
  recorded.token_times.time_per_output_token = testing::times({133, 7});
  const profile::Profile shown = testing::shown(recorded);
  EXPECT_EQ(shown.stages[1].shown.wall.mean->value, 24);
  EXPECT_FALSE(shown.stages[1].shown.wall.std || shown.stages[1].shown.wall.p50 ||
               shown.stages[1].shown.wall.max);
  EXPECT_EQ(shown.stages[1].shown.wall.count, 2U);
  ASSERT_TRUE(shown.token_times.shown->time_per_output_token);
  EXPECT_EQ(shown.token_times.shown->time_per_output_token->mean->value, 2.4);
  EXPECT_FALSE(shown.token_times.shown->time_per_output_token->p50);
  EXPECT_DOUBLE_EQ(shown.token_times.shown->tokens_per_s_per_sequence->value, 250 * 70 / 2.4);
  EXPECT_FALSE(shown.token_times.shown->request) << "pieces are no requests";
}

INSTANTIATE_TEST_SUITE_P(Shown, PiecesInWindows,
                         ::testing::Values(profile::UntracedSource::between_windows,
                                           profile::UntracedSource::control_launches));

// Of 6 ms in prefill, all in warm-up, and of 8 ms of 4 launches in decode without its warm-up.
TEST(Shown, KernelsOfAStageAreCountedWithoutWarmUpUnlessItHasNothingElse) {
  profile::Profile profile = profile_of({prefill(), decode()});
  profile.kernels.resize(3);
  profile.kernels[0].stages = {{"prefill", {{6}, 2, {}, 0}}, {"decode", {{9}, 4, {6}, 3}}};
  profile.kernels[1].stages = {{"decode", {{2}, 1, {2}, 1}}};
  profile.kernels[2].stages = {{"decode", {{5}, 1, {}, 0}}};
  const profile::Profile shown = testing::shown(profile);
  EXPECT_TRUE(shown.stages[0].shown.warmup_only);
  EXPECT_FALSE(shown.stages[1].shown.warmup_only);
  const auto& first = shown.kernels[0].stages;
  EXPECT_EQ(first[0].second.mean->value, 3);
  EXPECT_EQ(first[0].second.share->value, 1);
  EXPECT_EQ(first[1].second.mean->value, 2);
  EXPECT_EQ(first[1].second.share->value, 0.75);
  EXPECT_EQ(shown.kernels[1].stages[0].second.share->value, 0.25);
  EXPECT_FALSE(shown.kernels[2].stages[0].second.mean);
}

TEST(Shown, OneRateIsFirst) {
  profile::Profile profile = profile_of({prefill(), untraced_decode()});
  const auto rates = [&] { return testing::shown(profile).token_times.shown->output_rates; };
  EXPECT_EQ(rates()->first, profile::RateOf::all_sequences);
  EXPECT_DOUBLE_EQ(rates()->all_sequences->value, 1250);
  EXPECT_TRUE(rates()->without_tracing);
  EXPECT_EQ(rates()->traced->value, 1000);
  profile.workload.batch_source = std::string(profile::kAssumed);
  EXPECT_EQ(rates()->first, profile::RateOf::per_sequence);
  EXPECT_FALSE(rates()->all_sequences) << "of an assumed batch";
  profile.stages_found.serving = true;
  EXPECT_FALSE(rates()) << "engine steps are no tokens";
}

TEST(Shown, AFileOfAnEarlierVersionIsCompletedOnce) {
  profile::Profile profile = profile_of({prefill(), decode()});
  EXPECT_TRUE(complete_shown(profile));
  EXPECT_EQ(profile.stages[1].shown.longest, true);
  EXPECT_FALSE(profile.stages[0].shown.longest);
  EXPECT_FALSE(complete_shown(profile));
  profile.token_times.shown->revision = 1;
  EXPECT_TRUE(complete_shown(profile));
}

TEST(Shown, WithoutUntracedTimesIsTheProfileItself) {
  profile::Stage traced = prefill();
  traced.untraced.reset();
  const profile::Profile shown = testing::shown(profile_of({traced, decode()}));
  EXPECT_EQ(shown.stages[0].shown.wall.mean->value, 10);
  EXPECT_EQ(shown.stages[0].shown.share_of_stage_time.value, 0.25);  // of recorded times
  EXPECT_EQ((*shown.stages[0].shown.budget)[0].time.value, 10);
  EXPECT_EQ(shown.token_times.shown->gpu_busy_share_of_wall->value, 0.525);
}

}  // namespace
}  // namespace llmprof::analysis
