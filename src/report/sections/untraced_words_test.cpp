#include "report/sections/sections.h"

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
  profile::UntracedTimes own;
  own.source = *profile::find_word<profile::UntracedSource>(source);
  own.wall = {8};
  own.added = {added};
  own.added_share = {added / 8};
  stage.untraced = own;
  return stage;
}
profile::Stage traced(const std::string& name, const std::string& why_not) {
  profile::Stage stage = stage_of(name);
  stage.untraced_why_not = profile::find_word<profile::NoUntracedTime>(why_not);
  return stage;
}
profile::Profile with(std::vector<profile::Stage> stages) {
  profile::Profile profile;
  profile.stages = std::move(stages);
  return profile;
}

TEST(UntracedWords, SayHowTheTimesWereObtainedAndWhatTracingAdded) {
  const profile::Profile both =
      with({timed("prefill", "workload_clock", 2), timed("decode", "workload_clock", -0.1)});
  EXPECT_EQ(times_words(both),
            "Wall times and idle time are from the program without tracing, by the workload's own "
            "clock in the control run. Tracing added 2.000 ms (25.0 % of the untraced time) to a "
            "prefill and no "
            "measurable time to a decode; the budget excludes it.");
  EXPECT_TRUE(all_untraced(both));
}

TEST(UntracedWords, DistinguishTheSourcesOfTheStages) {
  EXPECT_EQ(times_words(with(
                {timed("prefill", "control_launches", 2), timed("decode", "between_windows", 1)})),
            "Wall times and idle time are from the program without tracing, prefill timed by "
            "its launches in an untraced run and decode timed in this run while nothing was "
            "traced. Tracing added 2.000 ms (25.0 % of the untraced time) to a prefill and 1.000 "
            "ms (12.5 % of the untraced time) to a "
            "decode; the budget excludes it.");
}

TEST(UntracedWords, SayWhichStagesAreTracedAndWhy) {
  const profile::Profile mixed =
      with({timed("prefill", "workload_clock", 2), traced("decode", "launches_differ")});
  EXPECT_EQ(
      times_words(mixed),
      "Wall times and idle time are from the program without tracing, by the workload's own clock "
      "in the control run. Tracing added 2.000 ms (25.0 % of the untraced time) to a prefill; the "
      "budget excludes it. "
      "Times of decode include tracing overhead of unknown size: its "
      "passes were not found in any untraced run or period. This overhead appears as idle time.");
  EXPECT_FALSE(all_untraced(mixed));
  EXPECT_TRUE(any_untraced_times(mixed));
}

TEST(UntracedWords, HaveASentenceForEachReason) {
  const auto words = [](const std::string& why_not) {
    return times_words(with({traced("decode", why_not)}));
  };
  const std::string rest = " This overhead appears as idle time.";
  const std::string includes = "Times of decode include tracing overhead of unknown size: ";
  EXPECT_EQ(words("no_other_time"), includes + "no untraced run was timed." + rest);
  EXPECT_EQ(words("selection"), includes + "some steps were selected." + rest);
  EXPECT_EQ(words("does_not_fit"),
            includes +
                "the run without tracing differs from the recorded one by more than tracing "
                "explains." +
                rest);
  EXPECT_EQ(words("warmup_only"), includes + "every instance is a warm-up." + rest);
}

TEST(UntracedWords, AreNoneOfACpuAndWithoutStages) {
  profile::Profile profile = with({traced("decode", "no_other_time")});
  profile.context.device_kind = profile::DeviceKind::cpu;
  EXPECT_EQ(times_words(profile), "");
  EXPECT_EQ(times_words(with({})), "");
  EXPECT_FALSE(all_untraced(with({})));
}

TEST(UntracedWords, SayWhatABudgetIsMadeOf) {
  profile::Stage stage = timed("decode", "between_windows", 2);
  stage.untraced->passes_timed = 7;
  stage.untraced->steps_recorded = 4;
  stage.untraced->steps_all = 1400;
  EXPECT_EQ(budget_basis_words(stage),
            "Wall time without tracing, timed in this run while nothing was traced (7 passes); "
            "tracing added 2.000 ms (25.0 % of the untraced time). Busy times cover 4 recorded "
            "steps of 1,400. Idle "
            "time is wall time minus busy time, split by cause as in the traced run.");
  stage = timed("prefill", "workload_clock", 2);
  stage.untraced->busy_scaled = true;
  EXPECT_EQ(budget_basis_words(stage),
            "Wall time without tracing, by the workload's own clock in the control run; tracing "
            "added 2.000 ms (25.0 % of the untraced time). Traced busy time exceeds the untraced "
            "wall time: busy parts "
            "are scaled down.");
  EXPECT_EQ(budget_basis_words(traced("decode", "selection")), "");
}

}  // namespace
}  // namespace llmprof::report
