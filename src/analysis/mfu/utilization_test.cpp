#include "analysis/mfu/utilization.h"

#include <gtest/gtest.h>

#include "testing/reasons.h"
#include "testing/utilization_run.h"

namespace llmprof::analysis {
namespace {

using testing::Kinds;
using testing::kinds_of;
using testing::number_of;
using testing::text_of;
using testing::value_of;

TEST(Utilization, MfuAndMbuOfTheDenseModel) {
  const UseOfPeaks use =
      utilization(dense_run(), dense_graph(), h200(), known_workload(777), {"NVIDIA H200"});
  EXPECT_TRUE(use.why_not.empty());
  ASSERT_EQ(use.stages.size(), 2U);
  const StageUtilization& prefill = use.stages[0];
  EXPECT_TRUE(prefill.why_not.empty());
  EXPECT_NEAR(prefill.cost.flops(), kPrefillFlops, 1);
  EXPECT_EQ(prefill.peak_name, "bf16 dense");
  EXPECT_NEAR(prefill.mfu.wall->value, kPrefillFlops / (0.008 * 989e12), 1e-9);
  EXPECT_NEAR(prefill.mfu.gpu_busy->value, kPrefillFlops / (0.005 * 989e12), 1e-9);
  EXPECT_FALSE(prefill.memory_bound);
  EXPECT_NEAR(static_cast<double>(*prefill.floor), kPrefillFlops / 989e12 * 1e9, 1);
  EXPECT_EQ(kinds_of(prefill.basis), Kinds{"prefill_pass"});
  EXPECT_EQ(number_of(prefill.basis, "prompt_tokens"), 777);
  EXPECT_EQ(text_of(prefill.basis, "prompt_tokens"), "--prompt-tokens");
  EXPECT_EQ(number_of(prefill.basis, "batch"), 1);
  EXPECT_EQ(text_of(prefill.basis, "batch"), "assumed");

  const StageUtilization& decode = use.stages[1];
  EXPECT_NEAR(decode.cost.bytes(), kDecodeBytes, 1);
  EXPECT_NEAR(decode.mbu.wall->value, kDecodeBytes / (0.044 * 4.8e12), 1e-9);
  EXPECT_NEAR(decode.mbu.gpu_busy->value, kDecodeBytes / (0.040 * 4.8e12), 1e-9);
  EXPECT_TRUE(decode.memory_bound);
  EXPECT_NEAR(static_cast<double>(*decode.floor), kDecodeBytes / 4.8e12 * 1e9, 1);
  EXPECT_EQ(kinds_of(decode.basis), Kinds{"decode_passes"});
  EXPECT_EQ(number_of(decode.basis, "steps"), 24);
  EXPECT_EQ(text_of(decode.basis, "steps"), "");  // counted
  EXPECT_EQ(number_of(decode.basis, "first_context"), 777);
  EXPECT_EQ(number_of(decode.basis, "last_context"), 800);
  EXPECT_EQ(text_of(decode.basis, "prompt_tokens"), "--prompt-tokens");
  EXPECT_EQ(value_of(decode.basis, "other_new_tokens"), nullptr);
  EXPECT_EQ(value_of(decode.basis, "tp"), nullptr);
  EXPECT_EQ(use.workload.new_tokens, 24U);
  EXPECT_EQ(use.workload.new_tokens_source, "number of decode steps");
}

// 6 of 24 steps were traced: wall time covers all steps, busy time only six.
TEST(Utilization, OnBusyTimeTracedStepsAloneCount) {
  StagesOfARun run;
  run.instance(1, 44 * kMs, 10 * kMs, std::vector<Step>(6));
  run.stages_.instances[0].untraced_steps = 18;
  const UseOfPeaks use =
      utilization(run.take(), dense_graph(), h200(), known_workload(777), {"NVIDIA H200"});
  const StageUtilization& decode = use.stages[1];
  EXPECT_NEAR(decode.cost.bytes(), kDecodeBytes, 1);
  EXPECT_NEAR(decode.mbu.wall->value, kDecodeBytes / (0.044 * 4.8e12), 1e-9);
  EXPECT_NEAR(decode.mbu.gpu_busy->value, kDecodeBytes / 4 / (0.010 * 4.8e12), 1e-9);
  EXPECT_EQ(use.workload.new_tokens, 24U);
  EXPECT_EQ(kinds_of(decode.basis), (Kinds{"decode_passes", "traced_steps_on_busy_time"}));
  EXPECT_EQ(number_of(decode.basis, "steps_traced"), 6);
  EXPECT_EQ(number_of(decode.basis, "steps"), 24);
}

TEST(Utilization, MissingInputsAreNamed) {
  const Stages stages = dense_run();
  const UseOfPeaks no_model =
      utilization(stages, std::nullopt, h200(), known_workload(777), {"H200"});
  EXPECT_EQ(kinds_of(no_model.why_not), Kinds{"no_model"});
  ASSERT_EQ(no_model.stages.size(), 2U);
  EXPECT_EQ(kinds_of(no_model.stages[0].why_not), Kinds{"no_model"});

  const UseOfPeaks no_gpu =
      utilization(stages, dense_graph(), std::nullopt, known_workload(777), {"NVIDIA H999"});
  EXPECT_EQ(kinds_of(no_gpu.why_not), Kinds{"gpu_unknown"});
  EXPECT_EQ(text_of(no_gpu.why_not, "gpu"), "NVIDIA H999");
  EXPECT_NEAR(no_gpu.stages[0].cost.flops(), kPrefillFlops, 1);
  EXPECT_FALSE(no_gpu.stages[0].mfu.wall);
  EXPECT_FALSE(no_gpu.stages[0].floor);

  const UseOfPeaks no_prompt = utilization(stages, dense_graph(), h200(), {}, {"H200"});
  for (const StageUtilization& stage : no_prompt.stages) {
    EXPECT_EQ(kinds_of(stage.why_not), Kinds{"prompt_tokens_unknown"});
    EXPECT_FALSE(stage.mfu.wall);
  }
  const UseOfPeaks nothing = utilization({}, dense_graph(), h200(), {}, {"H200"});
  EXPECT_EQ(kinds_of(nothing.why_not), Kinds{"no_stages"});
  Stages undetected;
  undetected.reason = {make_reason(profile::ReasonKind::no_attention)};
  EXPECT_EQ(kinds_of(utilization(undetected, dense_graph(), h200(), {}, {"H200"}).why_not),
            Kinds({"no_stages", "no_attention"}));
  const UseOfPeaks unnamed =
      utilization(stages, dense_graph(), std::nullopt, known_workload(777), {""});
  EXPECT_EQ(kinds_of(unnamed.stages[0].why_not), Kinds{"gpu_not_named"});
}

TEST(Utilization, TokensOfDetectedSteps) {
  StagesOfARun run;
  std::vector<Step> prefill(1);
  prefill[0].tokens = 777;
  run.instance(0, 8 * kMs, 5 * kMs, prefill);
  run.instance(1, 44 * kMs, 40 * kMs, std::vector<Step>(24));
  run.instance(1, 44 * kMs, 40 * kMs, std::vector<Step>(23));
  const UseOfPeaks use = utilization(run.take(), dense_graph(), h200(), {}, {"H200"});
  EXPECT_EQ(use.workload.prompt_tokens, 777U);
  EXPECT_EQ(use.workload.prompt_tokens_source, "tokens of the prefill steps");
  EXPECT_NEAR(use.stages[0].cost.flops(), kPrefillFlops, 1);
  EXPECT_EQ(number_of(use.stages[1].basis, "steps"), 23.5);
  // Half of the 24th step, at context 800: weights and 801 tokens of the cache.
  const double last = 2.0 * (1'417'674'752 + 65'536 + 4'096 + 131'072'000 + 4'096) + 32'768.0 * 801;
  EXPECT_NEAR(use.stages[1].cost.bytes(), kDecodeBytes - last / 2, 1);
}

TEST(Utilization, WithoutStepsTheFlagCounts) {
  StagesOfARun run;
  run.instance(1, 44 * kMs, 40 * kMs, {});
  profile::Workload workload = known_workload(777);
  const Stages stages = run.take();
  const UseOfPeaks unknown = utilization(stages, dense_graph(), h200(), workload, {""});
  EXPECT_EQ(kinds_of(unknown.stages[1].why_not), Kinds{"decode_steps_unknown"});
  workload.new_tokens = 24;
  workload.new_tokens_source = "--new-tokens";
  const UseOfPeaks use = utilization(stages, dense_graph(), h200(), workload, {""});
  EXPECT_NEAR(use.stages[1].cost.bytes(), kDecodeBytes, 1);
  EXPECT_EQ(number_of(use.stages[1].basis, "steps"), 24);
  EXPECT_EQ(text_of(use.stages[1].basis, "steps"), "--new-tokens");
  EXPECT_EQ(kinds_of(use.stages[0].why_not), Kinds{"all_warmup"});
}

// A loop too long to compute pass by pass: n times the weights, an arithmetic series of contexts.
TEST(Utilization, LongDecodeLoops) {
  StagesOfARun run;
  run.instance(1, 44 * kMs, 40 * kMs, {});
  profile::Workload workload = known_workload(1000);
  workload.new_tokens = 1'000'001;
  workload.new_tokens_source = "--new-tokens";
  const UseOfPeaks use = utilization(run.take(), dense_graph(), h200(), workload, {""});
  const double n = 1'000'001;
  const double bytes = n * 2.0 * (1'417'674'752 + 65'536 + 4'096 + 131'072'000 + 4'096) +
                       32'768.0 * (n * 1001 + n * (n - 1) / 2);
  EXPECT_NEAR(use.stages[1].cost.bytes(), bytes, 1e-6 * bytes);
}

TEST(Utilization, SeveralGpusNeedTheirShares) {
  StagesOfARun run;
  run.instance(0, 8 * kMs, 5 * kMs, std::vector<Step>(1), false, 0);
  run.instance(0, 8 * kMs, 5 * kMs, std::vector<Step>(1), false, 1);
  const Stages stages = run.take();
  const UseOfPeaks use = utilization(stages, dense_graph(), h200(), known_workload(777), {"H200"});
  EXPECT_EQ(kinds_of(use.stages[0].why_not), Kinds{"several_gpus"});
  EXPECT_EQ(number_of(use.stages[0].why_not, "gpus"), 2);
  profile::Workload workload = known_workload(777);
  workload.tp = 2;
  const UseOfPeaks halves = utilization(stages, dense_graph(), h200(), workload, {"H200"});
  EXPECT_NEAR(halves.stages[0].mfu.wall->value, kPrefillFlops / 2 / (0.008 * 989e12), 1e-9);
  EXPECT_EQ(number_of(halves.stages[0].basis, "tp"), 2);
  EXPECT_EQ(value_of(halves.stages[0].basis, "pp"), nullptr);
}

TEST(Utilization, PeakFollowsThePrecision) {
  llm::ModelSpec model = dense_graph();
  model.weights = {"fp8", 1};
  EXPECT_EQ(utilization(dense_run(), model, h200(), known_workload(777), {""}).stages[0].peak_name,
            "fp8 dense");
  model.weights = {"int4", 0.5};
  EXPECT_EQ(utilization(dense_run(), model, h200(), known_workload(777), {""}).stages[0].peak_name,
            "bf16 dense");
  model.weights = {"f32", 4};
  const UseOfPeaks use = utilization(dense_run(), model, h200(), known_workload(777), {""});
  EXPECT_FALSE(use.stages[0].mfu.wall);
  EXPECT_TRUE(use.stages[0].mbu.wall);
  EXPECT_EQ(kinds_of(use.stages[0].why_not), Kinds{"no_peak_of_format"});
  EXPECT_EQ(text_of(use.stages[0].why_not, "format"), "f32");
}

TEST(Utilization, ServingStepsByTheirTokens) {
  StagesOfARun run;
  run.stages_.serving = true;
  Step step;
  step.kind = StepKind::decode;
  step.batch = 8;
  run.instance(1, 3 * kMs, 2 * kMs, {step});
  step.batch = 4;
  run.instance(1, 3 * kMs, 2 * kMs, {step});
  Step unknown;
  unknown.kind = StepKind::prefill;
  run.instance(0, 8 * kMs, 5 * kMs, {unknown});
  const UseOfPeaks use = utilization(run.take(), dense_graph(), h200(), {}, {""});
  // On average 6 tokens through the weights and 6 positions through the head; no attention.
  const double flops = 6 * 2.0 * (1'417'674'752 + 131'072'000);
  EXPECT_NEAR(use.stages[1].cost.flops(), flops, 1);
  EXPECT_NEAR(use.stages[1].mfu.gpu_busy->value, flops / (0.002 * 989e12), 1e-9);
  EXPECT_FALSE(use.stages[1].mbu.wall);
  EXPECT_EQ(kinds_of(use.stages[1].why_not), Kinds{"contexts_unknown"});
  EXPECT_EQ(kinds_of(use.stages[1].basis), Kinds{"engine_steps"});
  EXPECT_EQ(number_of(use.stages[1].basis, "steps"), 2);
  EXPECT_EQ(number_of(use.stages[1].basis, "tokens_per_step"), 6);
  EXPECT_TRUE(use.stages[1].floor);
  EXPECT_EQ(kinds_of(use.stages[0].why_not), Kinds{"step_tokens_unknown"});
  EXPECT_EQ(number_of(use.stages[0].why_not, "known_steps"), 0);
  EXPECT_EQ(number_of(use.stages[0].why_not, "steps"), 1);
}

// Contexts are known: a mixed step with 5 tokens after 3 and one after 11, and a decode step.
TEST(Utilization, ServingStepsWithTheirContexts) {
  StagesOfARun run;
  run.stages_.serving = true;
  Step mixed;
  mixed.kind = StepKind::mixed;
  mixed.batch = 2;
  mixed.tokens = 6;
  mixed.phases.prefill = {1, 5, 8, 25, 40};
  mixed.phases.decode = {1, 1, 12, 1, 12};
  run.instance(0, 3 * kMs, 2 * kMs, {mixed});
  Step decode;
  decode.kind = StepKind::decode;
  decode.batch = 2;
  decode.tokens = 2;
  decode.phases.prefill = {0, 0, 0, 0, 0};
  decode.phases.decode = {2, 2, 30, 2, 30};
  run.instance(1, 3 * kMs, 2 * kMs, {decode});
  Step without_phases = decode;
  without_phases.phases = {};
  run.instance(1, 3 * kMs, 2 * kMs, {without_phases});
  const UseOfPeaks use = utilization(run.take(), dense_graph(), h200(), {}, {""});
  // 6 tokens through the weights, 2 positions through the head; 8 layers, 32 heads of 128, 42
  // pairs.
  const double flops =
      2.0 * (6 * 1'417'674'752.0 + 2 * 131'072'000) + 4.0 * 8 * 32 * 128 * (30 + 12);
  EXPECT_DOUBLE_EQ(use.stages[0].cost.flops(), flops);
  // 3 + 11 tokens of the cache read, 6 written; all weights; 6 rows of the embedding.
  const double bytes = 20 * 32768.0 + 2 * (1'417'674'752.0 + 131'072'000 + 17 * 4096) + 6 * 8192;
  EXPECT_DOUBLE_EQ(use.stages[0].cost.bytes(), bytes);
  ASSERT_TRUE(use.stages[0].mbu.wall);
  EXPECT_NEAR(use.stages[0].mbu.wall->value, bytes / (0.003 * 4.8e12), 1e-9);
  EXPECT_EQ(kinds_of(use.stages[0].basis), Kinds{"engine_steps_in_context"});
  EXPECT_EQ(number_of(use.stages[0].basis, "contexts_per_step"), 20);
  // One of two decode steps has contexts: both omit attention, to be comparable.
  EXPECT_FALSE(use.stages[1].mbu.wall);
  EXPECT_EQ(number_of(use.stages[1].basis, "steps_without_contexts"), 1);
}

}  // namespace
}  // namespace llmprof::analysis
