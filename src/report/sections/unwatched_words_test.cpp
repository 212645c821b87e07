#include "report/sections/unwatched_words.h"

#include <gtest/gtest.h>

#include "testing/sample_profile.h"

namespace llmprof::report {
namespace {

using profile::Milliseconds;

profile::Stage stage_of(const std::string& name) {
  profile::Stage stage;
  stage.name = name;
  stage.wall = testing::times({10, 10});
  return stage;
}
profile::Stage timed(const std::string& name, const std::string& source, double added) {
  profile::Stage stage = stage_of(name);
  profile::Unwatched own;
  own.source = source;
  own.wall = {8};
  own.added = {added};
  own.added_share = {added / 8};
  stage.unwatched = own;
  return stage;
}
profile::Stage traced(const std::string& name, const std::string& why_not) {
  profile::Stage stage = stage_of(name);
  stage.unwatched_why_not = why_not;
  return stage;
}
profile::Profile with(std::vector<profile::Stage> stages) {
  profile::Profile profile;
  profile.stages = std::move(stages);
  return profile;
}

TEST(UnwatchedWords, SayHowTheTimesWereObtainedAndWhatTracingAdded) {
  const profile::Profile both =
      with({timed("prefill", "workload_clock", 2), timed("decode", "workload_clock", -0.1)});
  EXPECT_EQ(times_words(both),
            "Wall times and idle time are those of the program without tracing, by the workload's "
            "own clock in the control run. Tracing added to a prefill 2.000 ms (25.0 %) and a "
            "decode no measurable time; that is in no part of the budget.");
  EXPECT_TRUE(all_unwatched(both));
}

TEST(UnwatchedWords, TellTheSourcesOfTheStagesApart) {
  EXPECT_EQ(times_words(with(
                {timed("prefill", "control_launches", 2), timed("decode", "between_windows", 1)})),
            "Wall times and idle time are those of the program without tracing, prefill timed by "
            "its launches in the control run and decode timed in this run while nothing was "
            "traced. Tracing added to a prefill 2.000 ms (25.0 %) and a decode 1.000 ms (12.5 %); "
            "that is in no part of the budget.");
}

TEST(UnwatchedWords, SayWhichStagesAreTracedAndWhy) {
  const profile::Profile mixed =
      with({timed("prefill", "workload_clock", 2), traced("decode", "launches_differ")});
  EXPECT_EQ(times_words(mixed),
            "Wall times and idle time are those of the program without tracing, by the workload's "
            "own clock in the control run. Tracing added to a prefill 2.000 ms (25.0 %); that is "
            "in no part of the budget. Times of decode are traced: its passes were not found where "
            "nothing was traced.");
  EXPECT_FALSE(all_unwatched(mixed));
  EXPECT_TRUE(any_unwatched(mixed));
}

TEST(UnwatchedWords, HaveASentenceForEachReason) {
  const auto words = [](const std::string& why_not) {
    return times_words(with({traced("decode", why_not)}));
  };
  EXPECT_EQ(words("no_other_time"), "Times of decode are traced: only the traced run was timed.");
  EXPECT_EQ(words("selection"), "Times of decode are traced: some steps were selected.");
  EXPECT_EQ(words("does_not_fit"),
            "Times of decode are traced: the run without tracing differs from the recorded one by "
            "more than tracing explains.");
  EXPECT_EQ(words("warmup_only"), "Times of decode are traced: every instance is a warm-up.");
}

TEST(UnwatchedWords, SayWhatTracingIsLikelyToHaveAdded) {
  profile::Stage prefill = traced("prefill", "no_other_time");
  prefill.likely_added = {1500, 0, {1.5}, {3}};
  profile::Stage decode = traced("decode", "no_other_time");
  decode.likely_added = {1500, 1000, {0.75}, {3}};
  profile::Profile profile = with({prefill, decode});
  EXPECT_EQ(times_words(profile),
            "Times of prefill and decode are traced: only the traced run was timed. Tracing is "
            "likely to have added 1.500 to 3.000 ms to a prefill (1,500 kernels) and 0.750 to "
            "3.000 ms to a decode (1,500 kernels, most of them in CUDA graphs); it shows as idle "
            "time.");
  profile.stages.erase(profile.stages.begin());
  profile.stages_found.serving = true;
  EXPECT_EQ(times_words(profile),
            "Times of decode are traced: only the traced run was timed. Tracing is likely to have "
            "added 0.750 to 3.000 ms to each engine step of decode (1,500 kernels, most of them in "
            "CUDA graphs); it shows as idle time.");
}

TEST(UnwatchedWords, AreNoneOfACpuAndWithoutStages) {
  profile::Profile profile = with({traced("decode", "no_other_time")});
  profile.context.device_kind = "cpu";
  EXPECT_EQ(times_words(profile), "");
  EXPECT_EQ(times_words(with({})), "");
  EXPECT_FALSE(all_unwatched(with({})));
}

TEST(UnwatchedWords, SayWhatABudgetIsMadeOf) {
  profile::Stage stage = timed("decode", "between_windows", 2);
  stage.unwatched->passes_timed = 7;
  stage.unwatched->steps_recorded = 4;
  stage.unwatched->steps_all = 1400;
  EXPECT_EQ(budget_basis_words(stage),
            "Wall time without tracing, timed in this run while nothing was traced (7 passes); "
            "tracing added 2.000 ms (25.0 %). Busy times are of 4 recorded steps of 1,400. Idle "
            "time is wall time less busy time; its causes are scaled from the traced ones.");
  stage = timed("prefill", "workload_clock", 2);
  stage.unwatched->busy_scaled = true;
  EXPECT_EQ(budget_basis_words(stage),
            "Wall time without tracing, by the workload's own clock in the control run; tracing "
            "added 2.000 ms (25.0 %). The GPU was busy for longer under tracing than the whole "
            "takes without: busy parts are scaled down.");
  EXPECT_EQ(budget_basis_words(traced("decode", "selection")), "");
}

}  // namespace
}  // namespace llmprof::report
