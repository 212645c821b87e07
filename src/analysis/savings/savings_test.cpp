#include "analysis/savings/savings.h"

#include <gtest/gtest.h>

#include "testing/reasons.h"
#include "testing/staged_trace.h"

namespace llmprof::analysis {
namespace {

using testing::Kinds;
using testing::kinds_of;
using testing::number_of;
using testing::text_of;
using testing::value_of;

constexpr auto part_of(KernelClass part) { return static_cast<size_t>(part); }
constexpr auto part_of(BudgetPart part) { return static_cast<size_t>(part); }

const SavingsPart& found_part(const StageSavings& stage, size_t part) {
  for (const SavingsPart& known : stage.parts) {
    if (known.part == part) return known;
  }
  ADD_FAILURE() << budget_part_name(part) << " is missing";
  return stage.parts.front();
}

// Two requests of 1000 ns: gemm 400 and 440, attention 100, norm 50, the rest idle.
class Savings : public ::testing::Test {
 protected:
  Savings() {
    const uint32_t stage = t_.stage("decode");
    for (const Nanoseconds start : {0, 2000}) {
      const Nanoseconds longer = start == 0 ? 0 : 40;
      t_.instance(stage, start, start + 1000);
      for (Nanoseconds step = 0; step < 2; ++step)
        t_.step(start + step * 500, start + step * 500 + 500);
      t_.launched("gemm", start, start, start + 400 + longer);
      t_.launched("attention", start, start + 440, start + 540);
      t_.launched("norm", start, start + 540, start + 590);
    }
    budgets_ = t_.budgets();
  }
  // 3000 FLOP at 10 FLOP/ns take 300 ns; 1600 bytes of weights at 5 bytes/ns take 320 ns: the floor
  // of products. Attention: 100 FLOP, 150 bytes: 30 ns. Together 350 ns.
  static UseOfPeaks known() {
    StageUtilization stage;
    stage.peak_flops = 10e9;
    stage.peak_bandwidth = 5e9;
    stage.peak_name = "bf16 dense";
    stage.cost.parts = {{"feed-forward", 2000, 1000, 0}, {"head", 1000, 600, 0}};
    stage.cost.parts.push_back({"attention", 100, 0, 150, llm::CostKind::attention});
    stage.floor = 350;
    UseOfPeaks utilization;
    utilization.stages.push_back(stage);
    return utilization;
  }

  TestTrace t_;
  Budgets budgets_;
};

TEST_F(Savings, HasNoTokensOfModelsThatAreNoLlm) {
  for (Step& step : t_.stages().steps) step.kind = StepKind::forward;
  const auto stages = stage_savings(t_.stages(), budgets_, known());
  ASSERT_EQ(stages.size(), 1U);
  EXPECT_DOUBLE_EQ(stages[0].tokens, 0);
  EXPECT_DOUBLE_EQ(stages[0].decode_steps, 0);
}

TEST_F(Savings, TakesFloorsFromTheModel) {
  const auto stages = stage_savings(t_.stages(), budgets_, known());
  ASSERT_EQ(stages.size(), 1U);
  const StageSavings& stage = stages[0];
  EXPECT_DOUBLE_EQ(stage.wall, 1000);
  EXPECT_DOUBLE_EQ(stage.tokens, 2);
  const SavingsPart& gemm = found_part(stage, part_of(KernelClass::gemm));
  EXPECT_DOUBLE_EQ(gemm.time, 420);
  EXPECT_DOUBLE_EQ(gemm.floor, 320);
  EXPECT_DOUBLE_EQ(gemm.potential(), 100);
  EXPECT_EQ(kinds_of(gemm.floor_rule), Kinds{"bytes_at_peak"});
  EXPECT_EQ(number_of(gemm.floor_rule, "bytes"), 1600);
  EXPECT_EQ(number_of(gemm.floor_rule, "peak_bandwidth"), 5e9);
  EXPECT_EQ(text_of(gemm.floor_rule, "bytes_are"), "weights");
  EXPECT_EQ(value_of(gemm.floor_rule, "divided_by_time"), nullptr);
  EXPECT_EQ(value_of(gemm.floor_rule, "traced_share"), nullptr);
  const SavingsPart& attention = found_part(stage, part_of(KernelClass::attention));
  EXPECT_EQ(text_of(attention.floor_rule, "bytes_are"), "kv_cache");
  EXPECT_DOUBLE_EQ(found_part(stage, part_of(KernelClass::attention)).floor, 30);
  EXPECT_DOUBLE_EQ(found_part(stage, part_of(KernelClass::norm)).floor, 0);
  EXPECT_DOUBLE_EQ(found_part(stage, part_of(BudgetPart::idle_after_last)).potential(), 410);
  ASSERT_TRUE(stage.bound);
  EXPECT_DOUBLE_EQ(*stage.bound, 350);
  // Largest potential saving first.
  EXPECT_EQ(stage.parts[0].part, part_of(BudgetPart::idle_after_last));
  EXPECT_EQ(stage.parts[1].part, part_of(KernelClass::gemm));
}

// Half of the steps were traced: untraced time saves nothing, and floors cover only this half.
TEST_F(Savings, OfTracedStepsAlone) {
  budgets_.stages[0].total[part_of(BudgetPart::not_traced)] = 2000;
  UseOfPeaks half = known();
  half.stages[0].traced_share = 0.5;
  const StageSavings stage = stage_savings(t_.stages(), budgets_, half)[0];
  EXPECT_DOUBLE_EQ(stage.wall, 1000);
  EXPECT_DOUBLE_EQ(found_part(stage, part_of(KernelClass::gemm)).floor, 160);
  EXPECT_EQ(number_of(found_part(stage, part_of(KernelClass::gemm)).floor_rule, "traced_share"),
            0.5);
  EXPECT_DOUBLE_EQ(found_part(stage, part_of(KernelClass::attention)).floor, 15);
  EXPECT_DOUBLE_EQ(*stage.bound, 175);
  for (const SavingsPart& part : stage.parts) {
    EXPECT_NE(part.part, part_of(BudgetPart::not_traced));
  }
}

TEST_F(Savings, HasNoFloorWithoutAModel) {
  const auto stages = stage_savings(t_.stages(), budgets_, {});
  const SavingsPart& gemm = found_part(stages[0], part_of(KernelClass::gemm));
  EXPECT_DOUBLE_EQ(gemm.potential(), 0);
  EXPECT_EQ(kinds_of(gemm.floor_rule), (Kinds{"own_time_without_floor", "no_model_given"}));
  EXPECT_FALSE(stages[0].bound);
  EXPECT_EQ(kinds_of(stages[0].bound_reason), Kinds{"no_model_given"});
}

// A floor above the time (weights in the cache, a wrong model) saves nothing.
TEST_F(Savings, NeverRecoversLessThanNothing) {
  UseOfPeaks wrong = known();
  wrong.stages[0].cost.parts[0].weight_bytes = 5000;
  wrong.stages[0].floor = 1150;
  const auto stages = stage_savings(t_.stages(), budgets_, wrong);
  EXPECT_DOUBLE_EQ(found_part(stages[0], part_of(KernelClass::gemm)).potential(), 0);
  EXPECT_DOUBLE_EQ(*stages[0].bound, 1000);
}

TEST(PotentialSavings, DoesNotRecoverWhatIsUnknown) {
  TestTrace t;
  t.instance(t.stage("decode"), 0, 100);
  t.replay(0, 60, t.call("cudaGraphLaunch", 0, 5));
  t.kernel("unheard_of", 60, 80);
  t.outside();
  t.kernel("gemm", 80, 100);
  const Budgets budgets = t.budgets();
  const auto stages = stage_savings(t.stages(), budgets, {});
  for (const SavingsPart& part : stages[0].parts) EXPECT_DOUBLE_EQ(part.potential(), 0);
  EXPECT_FALSE(stages[0].bound);
}

// A decode of 100 ns, in which the host launches nothing for 70 ns. The workload timed it at 50 ns
// without profiling.
TEST(PotentialSavings, SavesNoMoreThanTheUnprofiledStage) {
  TestTrace t;
  t.instance(t.stage("decode"), 0, 100);
  t.launched("gemm", 0, 0, 10);
  t.launched("gemm", 80, 90, 100);
  const Budgets budgets = t.budgets();
  auto stages = stage_savings(t.stages(), budgets, {});
  ASSERT_DOUBLE_EQ(stages[0].parts[0].potential(), 70);
  trace::Trace workload;
  workload.workload.emplace().stages = {{"prefill", 1e-5, {}}, {"decode", 5e-5, {}}};
  limit_to_unprofiled(workload, t.stages(), stages);
  EXPECT_DOUBLE_EQ(stages[0].most, 50);
  EXPECT_DOUBLE_EQ(stages[0].parts[0].potential(), 50);
  // The hardware needs 20 ns of these.
  stages[0].bound = 20;
  limit_to_unprofiled(workload, t.stages(), stages);
  EXPECT_DOUBLE_EQ(stages[0].parts[0].potential(), 30);
  // An unprofiled time above the recorded one limits nothing.
  stages = stage_savings(t.stages(), budgets, {});
  workload.workload->stages = {{"decode", 2e-4, {}}};
  limit_to_unprofiled(workload, t.stages(), stages);
  EXPECT_DOUBLE_EQ(stages[0].parts[0].potential(), 70);
}

// The replay's own time is not a bound: with a model, the bound comes from the model.
TEST(PotentialSavings, BoundsHiddenGraphsByTheModel) {
  TestTrace t;
  t.instance(t.stage("decode"), 0, 100);
  t.replay(0, 60, t.call("cudaGraphLaunch", 0, 5));
  StageUtilization stage;
  stage.peak_flops = 10e9;
  stage.peak_bandwidth = 5e9;
  stage.floor = 25;
  UseOfPeaks utilization;
  utilization.stages.push_back(stage);
  const auto stages = stage_savings(t.stages(), t.budgets(), utilization);
  EXPECT_DOUBLE_EQ(*stages[0].bound, 25);
  EXPECT_TRUE(stages[0].bound_reason.empty());
}

}  // namespace
}  // namespace llmprof::analysis
