#include <gtest/gtest.h>

#include "analysis/stages/annotated_stages.h"
#include "analysis/stages/measure_stages.h"
#include "analysis/tracing/untraced_gpu_time.h"
#include "config/conf_files.h"
#include "testing/staged_trace.h"

namespace llmprof::analysis {
namespace {

using TracedWindows = std::vector<std::pair<Nanoseconds, Nanoseconds>>;

TracedWindows windows_of(const TestTrace& t) {
  TracedWindows found;
  for (const auto& window : t.stages().untraced.of(trace::ProcessId(0), trace::DeviceId(0))) {
    found.emplace_back(window.start, window.end);
  }
  return found;
}

TEST(UntracedGpuTime, RunsFromTheLastWorkLaunchedBeforeToTheFirstLaunchedAfter) {
  TestTrace t;
  t.tracing_changes(0, true, trace::TracingReason::program_start);
  t.tracing_changes(100, false);
  t.tracing_changes(200, true);
  t.launched("gemm", 10, 20, 60);
  t.launched("gemm", 50, 60, 150);    // the CPU ran ahead: everything until 150 is visible
  t.launched("gemm", 210, 400, 450);  // untraced work may have kept the GPU busy until 400
  t.freeze();
  EXPECT_EQ(windows_of(t), (TracedWindows{{150, 400}}));
  EXPECT_TRUE(t.stages().untraced.within(trace::ProcessId(0), trace::DeviceId(0), 0, 150).empty());
  const auto inside =
      t.stages().untraced.within(trace::ProcessId(0), trace::DeviceId(0), 160, 1000);
  ASSERT_EQ(inside.size(), 1U);
  EXPECT_EQ(inside[0].start, 160);
  EXPECT_EQ(inside[0].end, 400);
}

TEST(UntracedGpuTime, BeginsWithThePeriodWhereTheGpuWasIdleBefore) {
  TestTrace t;
  t.tracing_changes(0, true, trace::TracingReason::program_start);
  t.tracing_changes(100, false);
  t.tracing_changes(200, true);
  t.launched("gemm", 10, 20, 60);
  t.launched("gemm", 210, 220, 250);
  t.freeze();
  EXPECT_EQ(windows_of(t), (TracedWindows{{100, 220}}));
}

TEST(UntracedGpuTime, LastsUntilTheEndWhereNothingWasTracedAgain) {
  TestTrace t;
  t.tracing_changes(0, true, trace::TracingReason::program_start);
  t.tracing_changes(100, false, trace::TracingReason::step_limit);
  t.launched("gemm", 10, 20, 60);
  t.freeze();
  EXPECT_EQ(windows_of(t), (TracedWindows{{100, INT64_MAX}}));
}

TEST(UntracedGpuTime, AProcessArmedLaterIsUntracedBefore) {
  TestTrace t;
  t.tracing_changes(100, true, trace::TracingReason::arm_range);
  t.launched("gemm", 110, 120, 160);
  t.freeze();
  EXPECT_EQ(windows_of(t), (TracedWindows{{INT64_MIN, 120}}));
}

TEST(UntracedGpuTime, AProcessThatWasNeverTracedHasNone) {
  TestTrace t;
  t.tracing_changes(0, false, trace::TracingReason::other_subscriber);
  t.launched("gemm", 110, 120, 160);
  t.freeze();
  EXPECT_FALSE(t.stages().untraced.any());
}

TEST(TracingPeriods, ShowWhetherATimeWasTraced) {
  TestTrace t;
  t.tracing_changes(0, true, trace::TracingReason::program_start);
  t.tracing_changes(100, false);
  t.tracing_changes(200, true);
  t.tracing_changes(300, false, trace::TracingReason::process_end);
  const TracingPeriods periods(t.freeze());
  EXPECT_TRUE(periods.traced_at(trace::ProcessId(0), -5));
  EXPECT_TRUE(periods.traced_at(trace::ProcessId(0), 99));
  EXPECT_FALSE(periods.traced_at(trace::ProcessId(0), 100));
  EXPECT_FALSE(periods.traced_at(trace::ProcessId(0), 199));
  EXPECT_TRUE(periods.traced_at(trace::ProcessId(0), 200));
  EXPECT_FALSE(periods.traced_at(trace::ProcessId(0), 300));
}

// Steps of 100 ns from 1000 on, one kernel of 80 ns each, launched 10 ns before; traced: 0, 1, 4,
// 5.
class DutyCycle : public ::testing::Test {
 protected:
  static constexpr Nanoseconds kFirst = 1000;
  static constexpr Nanoseconds kLength = 100;

  DutyCycle() {
    trace_.range("decode_all", kFirst - 20, kFirst + 8 * kLength);
    trace_.tracing_changes(0, true, trace::TracingReason::program_start);
    for (const auto& [step, on] : {std::pair{2, false}, {4, true}, {6, false}}) {
      trace_.tracing_changes(kFirst + step * kLength - 15, on, trace::TracingReason::duty,
                             static_cast<uint64_t>(step));
    }
    for (int step = 0; step < 8; ++step) {
      const Nanoseconds start = kFirst + step * kLength;
      trace_.range("decode_step", start - 18, start + 40);
      if (step / 2 % 2 == 0) trace_.launched("gemm", start - 10, start, start + 80);
    }
  }

  Stages annotated() {
    const auto conf = config::ConfFiles::open(std::nullopt).value();
    const StageRules rules = StageRules::load(conf).value();
    const trace::Trace frozen = trace_.freeze();
    return *annotated_stages(frozen, MeaningfulRanges(frozen, rules), diagnostics_);
  }

  TestTrace trace_;
  Diagnostics diagnostics_;
};

TEST_F(DutyCycle, UntracedStepsAreCountedAndNoRows) {
  const Stages stages = annotated();
  ASSERT_EQ(stages.instances.size(), 1U);
  const StageInstance& decode = stages.instances[0];
  EXPECT_EQ(decode.step_count, 4U);
  EXPECT_EQ(decode.untraced_steps, 4U);
  ASSERT_EQ(stages.steps.size(), 4U);
  EXPECT_EQ(stages.steps[2].untraced_before, 2U);
  EXPECT_EQ(stages.steps[0].untraced_before + stages.steps[1].untraced_before +
                stages.steps[3].untraced_before,
            0U);
}

TEST_F(DutyCycle, NoStepLastsAsLongAsTheUntracedOnesBeforeIt) {
  const Stages stages = annotated();
  EXPECT_FALSE(stages.steps[1].after_untraced);
  EXPECT_TRUE(stages.steps[2].after_untraced);
  EXPECT_EQ(stages.steps[2].start, 1400);
  EXPECT_EQ(stages.steps[2].wall(), 80);
  EXPECT_EQ(stages.steps[3].wall(), 100);
  // Step 0 (from the range's start, 980), 1 and 5: 100 each; step 4's time is unknown.
  EXPECT_EQ(stages.stages[0].step_wall.count, 3U);
  EXPECT_EQ(stages.stages[0].step_wall.max, 100);
}

// Tracing windows set by time end and start within steps.
TEST(TimeWindows, AStepThatHoldsUntracedTimeIsInNoStatistics) {
  TestTrace t;
  t.tracing_changes(0, true, trace::TracingReason::program_start);
  t.tracing_changes(1100, false, trace::TracingReason::budget);
  t.tracing_changes(1400, true, trace::TracingReason::budget);
  t.range("decode_all", 880, 1600);
  t.range("decode_step", 882, 985);
  t.launched("gemm", 890, 900, 980);
  t.range("decode_step", 986, 1500);
  t.launched("gemm", 990, 1000, 1080);
  t.launched("gemm", 1410, 1420, 1480);
  const auto conf = config::ConfFiles::open(std::nullopt).value();
  const StageRules rules = StageRules::load(conf).value();
  Diagnostics diagnostics;
  const trace::Trace frozen = t.freeze();
  const auto stages = annotated_stages(frozen, MeaningfulRanges(frozen, rules), diagnostics);
  ASSERT_TRUE(stages);
  ASSERT_EQ(stages->steps.size(), 2U);
  EXPECT_FALSE(stages->steps[0].after_untraced);
  EXPECT_TRUE(stages->steps[1].after_untraced);
  EXPECT_EQ(stages->stages[0].step_wall.count, 1U);
}

TEST_F(DutyCycle, ATokensTimeIsOverAllSteps) {
  const Stages stages = annotated();
  // The range from 980 to 1800 over eight steps: 102.5, rounded up.
  EXPECT_EQ(token_walls(stages).per_token, std::vector<Nanoseconds>({103}));
}

TEST_F(DutyCycle, TheBudgetSaysWhatWasNotTraced) {
  const Stages stages = annotated();
  const KernelRules rules = TestTrace::rules();
  const Budgets budgets = time_budgets(
      trace_.trace(), stages, DescribedNames(trace_.trace(), rules), BudgetBasis(trace_.trace()));
  const PartTimes& parts = budgets.instances[0];
  // The windows: 1185 (tracing ends, the GPU is idle since 1180) to 1400, and 1585 to 1800.
  EXPECT_EQ(parts[static_cast<size_t>(BudgetPart::not_traced)], 215 + 215);
  EXPECT_EQ(parts[static_cast<size_t>(KernelClass::gemm)], 4 * 80);
  // Known to be idle: 980-1000, 1080-1100, 1180-1185, 1480-1500, 1580-1585.
  Nanoseconds idle = 0;
  for (size_t part = 0; part < kBudgetParts; ++part) {
    if (is_idle(part)) idle += parts[part];
  }
  EXPECT_EQ(idle, 20 + 20 + 5 + 20 + 5);
  for (const IdleGap& gap : budgets.gaps) EXPECT_LE(gap.length(), 20);
}

TEST_F(DutyCycle, ADiagnosticSaysWhichFiguresAreOfTracedSteps) {
  const Stages stages = annotated();
  const profile::StageTracing tracing = stage_tracing(stages, 0);
  EXPECT_EQ(tracing.steps_traced, 4U);
  EXPECT_EQ(tracing.steps_all, 8U);
  EXPECT_DOUBLE_EQ(tracing.share_of_steps->value, 0.5);
  report_untraced(stages, diagnostics_);
  ASSERT_TRUE(diagnostics_.has("steps_not_traced"));
}

}  // namespace
}  // namespace llmprof::analysis
