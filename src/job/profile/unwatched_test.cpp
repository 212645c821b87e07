#include "job/profile/parts.h"

#include <gtest/gtest.h>

namespace llmprof::job::result {
namespace {

// 10 ms recorded: 4 ms of GEMM and 6 ms idle, including 2 ms of waiting for the slowest rank.
profile::Stage recorded_stage() {
  profile::Stage stage;
  stage.name = "decode";
  stage.wall.mean = profile::Milliseconds{10};
  stage.wall.count = 1;
  stage.idle = profile::Milliseconds{6};
  stage.step_count = 4;
  const auto part = [](std::string name, double ms, bool idle) {
    profile::BudgetPart row;
    row.part = *profile::find_word<profile::TimePart>(name);
    row.time = {ms};
    row.idle = idle;
    return row;
  };
  stage.budget = {part("gemm", 4, false), part("idle: launch-bound", 4, true),
                  part("idle: waiting for the slowest rank", 2, true)};
  return stage;
}

profile::Stage timed_stage(double wall) {
  profile::Stage stage;
  stage.unwatched.emplace();
  stage.unwatched->source = profile::UnwatchedSource::workload_clock;
  stage.unwatched->wall = {wall};
  stage.unwatched->per_step = profile::Milliseconds{wall / 4};
  return stage;
}

double sum(const profile::Unwatched& told) {
  double total = 0;
  for (const profile::UnwatchedPart& part : told.budget) total += part.time.value;
  return total;
}

TEST(UnwatchedOfJob, IdleTimeShrinksToWhatTheWorkloadTimed) {
  const profile::Stage timed = timed_stage(7);
  const auto told = unwatched_of_job({&timed, nullptr, &timed}, recorded_stage());
  ASSERT_TRUE(told);
  EXPECT_EQ(told->added.value, 3);
  EXPECT_EQ(told->busy.value, 4);
  EXPECT_EQ(told->idle.value, 3);
  EXPECT_FALSE(told->busy_scaled);
  ASSERT_EQ(told->budget.size(), 3U);
  EXPECT_EQ(to_string(told->budget[0].part), "gemm");
  EXPECT_EQ(told->budget[1].time.value, 2);
  EXPECT_EQ(told->budget[2].time.value, 1);
  EXPECT_NEAR(sum(*told), 7, 1e-12);
  EXPECT_EQ(told->budget[0].per_step->value, 1);
}

TEST(UnwatchedOfJob, WorkIsScaledWhereItDoesNotFit) {
  const profile::Stage timed = timed_stage(2);
  const auto told = unwatched_of_job({&timed}, recorded_stage());
  ASSERT_TRUE(told);
  EXPECT_TRUE(told->busy_scaled);
  EXPECT_EQ(told->idle.value, 0);
  ASSERT_EQ(told->budget.size(), 1U);
  EXPECT_EQ(told->budget[0].time.value, 2);
}

TEST(UnwatchedOfJob, NeedsTheWorkloadsClockOnAllRanks) {
  const profile::Stage timed = timed_stage(7);
  const profile::Stage not_timed;
  profile::Stage otherwise = timed_stage(7);
  otherwise.unwatched->source = profile::UnwatchedSource::between_windows;
  EXPECT_FALSE(unwatched_of_job({&timed, &not_timed}, recorded_stage()));
  EXPECT_FALSE(unwatched_of_job({&timed, &otherwise}, recorded_stage()));
  EXPECT_FALSE(unwatched_of_job({nullptr}, recorded_stage()));
}

}  // namespace
}  // namespace llmprof::job::result
