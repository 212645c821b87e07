#include "report/diff/diff_report.h"

#include <gtest/gtest.h>

namespace llmprof::report {
namespace {

TEST(SpeedWords, AreFactorsFromTwoOn) {
  EXPECT_EQ(speed_words(1.0), "twice as slow");
  EXPECT_EQ(speed_words(0.93), "twice as slow");
  EXPECT_EQ(speed_words(0.85), "85.00 % slower");
  EXPECT_EQ(speed_words(-0.5), "twice as fast");
  EXPECT_EQ(speed_words(2.14), "3.1 times as slow");
  EXPECT_EQ(speed_words(-0.75), "4.0 times as fast");
  EXPECT_EQ(speed_words(0.0612), "6.12 % slower");
  EXPECT_EQ(speed_words(-0.0612), "6.12 % faster");
}

void add_stage(std::string_view name, std::string_view answer, double relative,
               compare::Diff& diff) {
  compare::StageDiff& stage = diff.stages.emplace_back();
  stage.stage = name;
  stage.unit = compare::TimeUnit::step;
  compare::Comparison& step = diff.comparisons.emplace_back();
  step.stage = name;
  step.quantity = {compare::Measured::wall, compare::Per::step};
  step.answer = *profile::find_word<compare::Answer>(answer);
  step.relative = compare::Share{relative};
}

TEST(SummaryWords, SayWhatChangedFirst) {
  compare::Diff diff;
  diff.verdict = compare::Verdict::pass;
  diff.threshold = {0.01};
  add_stage("prefill", "unchanged", 0.001, diff);
  add_stage("decode", "changed", 1.0, diff);
  add_stage("mixed", "cannot_tell", 0.2, diff);
  EXPECT_EQ(summary_words(diff),
            "decode is twice as slow; prefill is unchanged within 1 %; it is undecided whether the "
            "wall time of mixed changed.");
}

TEST(SummaryWords, SayWhatIsUndecided) {
  compare::Diff diff;
  diff.verdict = compare::Verdict::pass;
  add_stage("prefill", "cannot_tell", 0.1, diff);
  add_stage("decode", "cannot_tell", 0.1, diff);
  EXPECT_EQ(summary_words(diff),
            "It is undecided whether the wall time of prefill and decode changed.");
  compare::Comparison& busy = diff.comparisons.emplace_back();
  busy.stage = "decode";
  busy.quantity = {compare::Measured::busy, compare::Per::step};
  busy.answer = compare::Answer::changed;
  busy.relative = compare::Share{-0.0838};
  EXPECT_EQ(summary_words(diff),
            "decode keeps the GPU busy for 8.38 % less time; it is undecided whether the wall time "
            "of prefill and decode changed.");
  diff.damage.push_back(
      {compare::SideName::now, "x", "kineto_truncated", "the trace is truncated", 1});
  EXPECT_EQ(summary_words(diff),
            "The new side is damaged, so no change can be determined: the trace is truncated.");
  diff.damage.push_back({compare::SideName::base, "y", "nsys_bad_rows", "bad rows", 1200});
  EXPECT_EQ(summary_words(diff),
            "Both sides are damaged, so no change can be determined: the trace is truncated.");
}

}  // namespace
}  // namespace llmprof::report
