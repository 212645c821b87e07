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
  stage.untraced.emplace();
  stage.untraced->source = profile::UntracedSource::workload_clock;
  stage.untraced->wall = {wall};
  stage.untraced->per_step = profile::Milliseconds{wall / 4};
  return stage;
}

double sum(const profile::UntracedTimes& untraced) {
  double total = 0;
  for (const profile::UntracedPart& part : untraced.budget) total += part.time.value;
  return total;
}

TEST(UntracedOfJob, IdleTimeShrinksToWhatTheWorkloadTimed) {
  const profile::Stage timed = timed_stage(7);
  const auto untraced = untraced_of_job({&timed, nullptr, &timed}, recorded_stage());
  ASSERT_TRUE(untraced);
  EXPECT_EQ(untraced->added.value, 3);
  EXPECT_EQ(untraced->busy.value, 4);
  EXPECT_EQ(untraced->idle.value, 3);
  EXPECT_FALSE(untraced->busy_scaled);
  ASSERT_EQ(untraced->budget.size(), 3U);
  EXPECT_EQ(to_string(untraced->budget[0].part), "gemm");
  EXPECT_EQ(untraced->budget[1].time.value, 2);
  EXPECT_EQ(untraced->budget[2].time.value, 1);
  EXPECT_NEAR(sum(*untraced), 7, 1e-12);
  EXPECT_EQ(untraced->budget[0].per_step->value, 1);
}

TEST(UntracedOfJob, WorkIsScaledWhereItDoesNotFit) {
  const profile::Stage timed = timed_stage(2);
  const auto untraced = untraced_of_job({&timed}, recorded_stage());
  ASSERT_TRUE(untraced);
  EXPECT_TRUE(untraced->busy_scaled);
  EXPECT_EQ(untraced->idle.value, 0);
  ASSERT_EQ(untraced->budget.size(), 1U);
  EXPECT_EQ(untraced->budget[0].time.value, 2);
}

TEST(UntracedOfJob, NeedsTheWorkloadsClockOnAllRanks) {
  const profile::Stage timed = timed_stage(7);
  const profile::Stage not_timed;
  profile::Stage otherwise = timed_stage(7);
  otherwise.untraced->source = profile::UntracedSource::between_windows;
  EXPECT_FALSE(untraced_of_job({&timed, &not_timed}, recorded_stage()));
  EXPECT_FALSE(untraced_of_job({&timed, &otherwise}, recorded_stage()));
  EXPECT_FALSE(untraced_of_job({nullptr}, recorded_stage()));
}

}  // namespace
}  // namespace llmprof::job::result
