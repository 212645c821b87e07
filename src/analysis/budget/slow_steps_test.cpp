#include <gtest/gtest.h>

#include "analysis/budget/slow_steps.h"
#include "testing/reasons.h"
#include "testing/staged_trace.h"

namespace llmprof::analysis {
namespace {

using testing::Kinds;
using testing::kinds_of;
using testing::number_of;
using testing::text_of;
using testing::value_of;

// Steps of 1000 ns: launch call at +100, gemm from +200 to +600, norm queued from +700 to +1000.
// `gemm_longer` and `gap_longer` (before gemm) stretch a step.
class SlowSteps : public ::testing::Test {
 protected:
  void step(Nanoseconds gap_longer = 0, Nanoseconds gemm_longer = 0) {
    const Nanoseconds start = at_;
    at_ += 1000 + gap_longer + gemm_longer;
    t_.step(start, at_);
    const Nanoseconds gemm = start + 200 + gap_longer;
    t_.launched("gemm", gemm - 100, gemm, gemm + 400 + gemm_longer);
    t_.launched("norm", gemm - 50, at_ - 300, at_);
  }
  std::vector<profile::SlowStep> found() {
    t_.stages().instances[0].end = at_;
    return t_.budgets().slow_steps;
  }

  TestTrace t_;
  Nanoseconds at_ = 0;
};

TEST_F(SlowSteps, SayWhichKernelAndWhichGapIsLonger) {
  t_.instance(t_.stage("decode"), 0, 0);
  for (int i = 0; i < 6; ++i) step();
  step(300, 50);
  for (int i = 0; i < 6; ++i) step();
  step(0, 120);
  const std::vector<profile::SlowStep> steps = found();
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps[0].step, 6U);
  EXPECT_EQ(to_nanoseconds(steps[0].above_median), 350);
  ASSERT_EQ(steps[0].reasons.size(), 2U);
  EXPECT_EQ(kinds_of(steps[0].reasons[0].what_reasons), (Kinds{"longer_gap", "host_code"}));
  EXPECT_EQ(text_of(steps[0].reasons[0].what_reasons, "work"), "gemm");
  EXPECT_EQ(text_of(steps[0].reasons[0].what_reasons, "between_operators"), "no");
  EXPECT_EQ(to_nanoseconds(steps[0].reasons[0].longer), 300);
  EXPECT_EQ(kinds_of(steps[0].reasons[1].what_reasons), Kinds{"longer_work"});
  EXPECT_EQ(text_of(steps[0].reasons[1].what_reasons, "work"), "gemm");
  EXPECT_EQ(to_nanoseconds(steps[0].reasons[1].longer), 50);
  EXPECT_EQ(steps[1].step, 13U);
  EXPECT_EQ(to_nanoseconds(steps[1].above_median), 120);
  ASSERT_EQ(steps[1].reasons.size(), 1U);
  EXPECT_EQ(to_nanoseconds(steps[1].reasons[0].longer), 120);
}

// Walls 1000, 1000, 1000, 1040, 1000: 4 % above is not an outlier.
TEST_F(SlowSteps, LeaveSmallDifferencesAlone) {
  t_.instance(t_.stage("decode"), 0, 0);
  for (int i = 0; i < 5; ++i) step(i == 3 ? 40 : 0);
  EXPECT_TRUE(found().empty());
}

// Walls 1000, 1100, 1200, 1300, 1400: median 1200, deviations 200 100 0 100 200, their median 100;
// 1400 is 200 above, not more than 3 x 100.
TEST_F(SlowSteps, LeaveAWideSpreadAlone) {
  t_.instance(t_.stage("decode"), 0, 0);
  for (Nanoseconds i = 0; i < 5; ++i) step(100 * i);
  EXPECT_TRUE(found().empty());
}

TEST_F(SlowSteps, AlignByNameWhereTheKernelsDiffer) {
  t_.instance(t_.stage("decode"), 0, 0);
  for (int i = 0; i < 6; ++i) step();
  step(0, 500);
  t_.launched("attention", at_ - 800, at_, at_ + 400);
  at_ += 400;
  t_.stages().steps.back().end = at_;
  const std::vector<profile::SlowStep> steps = found();
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_EQ(to_nanoseconds(steps[0].above_median), 900);
  ASSERT_EQ(steps[0].reasons.size(), 2U);
  EXPECT_EQ(text_of(steps[0].reasons[0].what_reasons, "work"), "gemm");
  EXPECT_EQ(value_of(steps[0].reasons[0].what_reasons, "more_calls"), nullptr);
  EXPECT_EQ(to_nanoseconds(steps[0].reasons[0].longer), 500);
  EXPECT_EQ(text_of(steps[0].reasons[1].what_reasons, "work"), "attention");
  EXPECT_EQ(number_of(steps[0].reasons[1].what_reasons, "more_calls"), 1);
  EXPECT_EQ(to_nanoseconds(steps[0].reasons[1].longer), 400);
}

TEST_F(SlowSteps, CompareStepsOfTheSameBatchOnly) {
  t_.instance(t_.stage("decode"), 0, 0);
  for (int i = 0; i < 8; ++i) {
    step(0, i < 4 ? 0 : 3000);
    t_.stages().steps.back().batch = i < 4 ? 1 : 32;
  }
  EXPECT_TRUE(found().empty());
}

// Wall times in ns: 4 x 300, 8 x 1000, 1080, 1090. The median of 14 is the 7th, 1000. The steps at
// 1000 have no spread, and the faster mode does not count.
TEST_F(SlowSteps, AreFoundBesideAFasterMode) {
  t_.instance(t_.stage("decode"), 0, 0);
  for (int i = 0; i < 4; ++i) step(-150, -350);
  for (int i = 0; i < 8; ++i) step();
  step(80);
  step(90);
  const std::vector<profile::SlowStep> steps = found();
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(to_nanoseconds(steps[0].above_median), 90);
}

// Batches 1, 2, 3, 4 once each: walls 1000, 1100, 5000, 900; the median is 1000.
TEST_F(SlowSteps, AreFoundWhereNoTwoStepsAreAlike) {
  t_.instance(t_.stage("decode"), 0, 0);
  uint64_t batch = 0;
  for (const Nanoseconds longer : {0, 100, 4000, -100}) {
    step(longer);
    t_.stages().steps.back().batch = ++batch;
  }
  const std::vector<profile::SlowStep> steps = found();
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_EQ(steps[0].step, 2U);
  EXPECT_EQ(to_nanoseconds(steps[0].above_median), 4000);
}

// gemm2 instead of gemm after a gap longer by 300; norm is 200 shorter. Compared with the usual
// step: gemm 400 -> 500, the gap +300, norm 300 -> 100: 200 in total.
TEST_F(SlowSteps, HaveReasonsThatSumToTheExcess) {
  t_.instance(t_.stage("decode"), 0, 0);
  for (int i = 0; i < 6; ++i) step();
  t_.step(at_, at_ + 1200);
  t_.launched("gemm2", at_ + 400, at_ + 500, at_ + 1000);
  t_.launched("norm", at_ + 450, at_ + 1100, at_ + 1200);
  at_ += 1200;
  const std::vector<profile::SlowStep> steps = found();
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_EQ(to_nanoseconds(steps[0].above_median), 200);
  ASSERT_EQ(steps[0].reasons.size(), 3U);
  EXPECT_EQ(to_nanoseconds(steps[0].reasons[0].longer), 300);
  EXPECT_EQ(text_of(steps[0].reasons[1].what_reasons, "work"), "gemm2");
  EXPECT_EQ(to_nanoseconds(steps[0].reasons[1].longer), 100);
  EXPECT_EQ(kinds_of(steps[0].reasons[2].what_reasons), Kinds{"shorter_other_parts"});
  EXPECT_EQ(to_nanoseconds(steps[0].reasons[2].longer), -200);
}

// Four kernels share an excess of 200 ns as 80, 60, 40 and 20: three are named.
TEST_F(SlowSteps, GiveANameToWhatTheReasonsLeave) {
  t_.instance(t_.stage("decode"), 0, 0);
  const auto run = [&](Nanoseconds growth) {
    const Nanoseconds start = at_;
    t_.step(start, start + 500 + 10 * growth);
    for (const auto& [name, share] :
         {std::pair("gemm", 4), std::pair("norm", 3), std::pair("mul", 2), std::pair("cast", 1)}) {
      const Nanoseconds end = at_ + 125 + share * growth;
      t_.launched(name, start, at_, end);
      at_ = end;
    }
  };
  for (int i = 0; i < 6; ++i) run(0);
  run(20);
  const std::vector<profile::SlowStep> steps = found();
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_EQ(to_nanoseconds(steps[0].above_median), 200);
  ASSERT_EQ(steps[0].reasons.size(), 4U);
  EXPECT_EQ(to_nanoseconds(steps[0].reasons[0].longer), 80);
  EXPECT_EQ(to_nanoseconds(steps[0].reasons[2].longer), 40);
  EXPECT_EQ(kinds_of(steps[0].reasons[3].what_reasons), Kinds{"longer_unexplained"});
  EXPECT_EQ(to_nanoseconds(steps[0].reasons[3].longer), 20);
}

// The gemm takes 20,100 ns longer, the norm 100 ns less: 0.5 % of 20,000 is not a reason.
TEST_F(SlowSteps, LeaveOutARestThatIsNearlyNothing) {
  t_.instance(t_.stage("decode"), 0, 0);
  const auto run = [&](Nanoseconds gemm, Nanoseconds norm) {
    t_.step(at_, at_ + gemm + norm);
    t_.launched("gemm", at_, at_, at_ + gemm);
    t_.launched("norm", at_, at_ + gemm, at_ + gemm + norm);
    at_ += gemm + norm;
  };
  for (int i = 0; i < 6; ++i) run(400, 300);
  run(20'500, 200);
  const std::vector<profile::SlowStep> steps = found();
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_EQ(to_nanoseconds(steps[0].above_median), 20'000);
  ASSERT_EQ(steps[0].reasons.size(), 1U);
  EXPECT_EQ(to_nanoseconds(steps[0].reasons[0].longer), 20'100);
}

TEST_F(SlowSteps, KeepTheFiveSlowest) {
  t_.instance(t_.stage("decode"), 0, 0);
  for (int i = 0; i < 30; ++i) step();
  for (Nanoseconds i = 1; i <= 7; ++i) step(i * 1000);
  const std::vector<profile::SlowStep> steps = found();
  ASSERT_EQ(steps.size(), 5U);
  EXPECT_EQ(to_nanoseconds(steps[0].above_median), 7000);
  EXPECT_EQ(to_nanoseconds(steps[4].above_median), 3000);
}

}  // namespace
}  // namespace llmprof::analysis
