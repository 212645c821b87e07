#include "analysis/mfu/utilization.h"

#include <gtest/gtest.h>

#include <array>

#include "base/text.h"
#include "testing/reasons.h"
#include "testing/shared_captures.h"
#include "testing/temporary_folder.h"

namespace llmprof::analysis {
namespace {

using testing::Kinds;
using testing::kinds_of;
using testing::number_of;
using testing::text_of;
using testing::value_of;

llm::ModelSpec dense_graph() {
  auto model = llm::parse_hugging_face_config(
      testing::file_bytes(testing::test_data("models") / "dense_graph_config.json"), "dense");
  EXPECT_TRUE(model) << model.error().message;
  return std::move(*model);
}

llm::GpuSpec h200() {
  llm::GpuSpec gpu;
  gpu.name = "H200 SXM";
  gpu.memory_bandwidth = 4.8e12;
  gpu.tensor_bf16 = 989e12;
  gpu.tensor_fp8 = 1979e12;
  return gpu;
}

constexpr Nanoseconds kMs = 1'000'000;

// Stages as in a capture of the dense decoder: one prefill and one decode loop per request.
class StagesOfARun {
 public:
  StagesOfARun() {
    for (const char* name : {"prefill", "decode"}) {
      Stage stage;
      stage.name = name;
      stages_.stages.push_back(stage);
    }
  }

  void instance(uint32_t stage, Nanoseconds wall, Nanoseconds busy, std::vector<Step> steps,
                bool warmup = false, size_t device = 0) {
    StageInstance item;
    item.stage = stage;
    item.process = trace::ProcessId(0);
    item.device = trace::DeviceId(device);
    item.end = wall;
    item.warmup = warmup;
    item.first_step = static_cast<uint32_t>(stages_.steps.size());
    item.step_count = static_cast<uint32_t>(steps.size());
    item.work.busy = busy;
    stages_.steps.insert(stages_.steps.end(), steps.begin(), steps.end());
    stages_.instances.push_back(item);
    if (warmup) return;
    walls_[stage].push_back(wall);
    busies_[stage].push_back(busy);
  }

  Stages take() {
    for (uint32_t i = 0; i < stages_.stages.size(); ++i) {
      stages_.stages[i].wall = summarize(walls_[i]);
      stages_.stages[i].busy = summarize(busies_[i]);
    }
    return std::move(stages_);
  }

  Stages stages_;

 private:
  std::array<std::vector<Nanoseconds>, 2> walls_;
  std::array<std::vector<Nanoseconds>, 2> busies_;
};

Stages dense_run() {
  StagesOfARun run;
  run.instance(0, 90 * kMs, 20 * kMs, std::vector<Step>(1), true);
  run.instance(0, 8 * kMs, 5 * kMs, std::vector<Step>(1));
  run.instance(1, 44 * kMs, 40 * kMs, std::vector<Step>(24));
  return run.take();
}

profile::Workload known_workload(uint64_t prompt) {
  profile::Workload workload;
  workload.prompt_tokens = prompt;
  workload.prompt_tokens_source = "--prompt-tokens";
  return workload;
}

// By hand: 2 x 777 x 1,417,674,752 weights + 2 x 131,072,000 for the head + attention
// 4 x 8 x 32 x 128 x 777 x 778 / 2.
constexpr double kPrefillFlops =
    2.0 * 777 * 1'417'674'752 + 2.0 * 131'072'000 + 4.0 * 8 * 32 * 128 * 777 * 778 / 2;
// 24 times (1,548,816,384 weights without the embedding, plus one row of it: 4,096) x 2 bytes, and
// (778 + ... + 801) tokens of the cache at 32,768 bytes. The 1,548,816,384 are the layers, their
// norms (65,536), the final norm (4,096) and the head.
constexpr double kDecodeBytes = 24 * 2.0 * (1'417'674'752 + 65'536 + 4'096 + 131'072'000 + 4'096) +
                                32'768.0 * (24 * 778 + 23 * 24 / 2);

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

TEST(Utilization, FiguresAboveThePeakAreRefused) {
  StagesOfARun run;
  run.instance(0, 8 * kMs, 5 * kMs, std::vector<Step>(1));
  // 24 steps in 14 ms busy: kDecodeBytes / (0.014 x 4.8e12) = 1.116...; in 20 ms 0.781.
  run.instance(1, 20 * kMs, 14 * kMs, std::vector<Step>(24));
  const Stages stages = run.take();
  const UseOfPeaks use = utilization(stages, dense_graph(), h200(), known_workload(777), {"H200"});
  EXPECT_NEAR(kDecodeBytes / (0.014 * 4.8e12), 1.12, 0.04);
  for (const StageUtilization& stage : use.stages) {
    EXPECT_FALSE(stage.mbu.gpu_busy);
    EXPECT_FALSE(stage.mbu.wall);
    EXPECT_FALSE(stage.mfu.wall);
    EXPECT_FALSE(stage.mfu.gpu_busy);
    EXPECT_FALSE(stage.floor);
    EXPECT_FALSE(stage.memory_bound);
  }
  EXPECT_EQ(kinds_of(use.stages[1].why_not), Kinds{"impossible_figure"});
  EXPECT_EQ(kinds_of(use.stages[0].why_not), Kinds{"depends_on_impossible_figure"});
  for (const StageUtilization& stage : use.stages) {
    EXPECT_EQ(text_of(stage.why_not, "figure"), "MBU");
    EXPECT_EQ(text_of(stage.why_not, "stage"), "decode");
    EXPECT_EQ(text_of(stage.why_not, "time"), "busy");
    EXPECT_NEAR(number_of(stage.why_not, "share"), kDecodeBytes / (0.014 * 4.8e12), 1e-9);
    EXPECT_EQ(text_of(stage.why_not, "weights_dtype"), "bf16");
    EXPECT_EQ(text_of(stage.why_not, "weights_may_be_cached"), "no");
    // The figure does not depend on these: one GPU is known, decode has no prompt, batch is 1.
    for (const char* name : {"captured_gpu", "prompt_tokens", "batch"}) {
      EXPECT_EQ(value_of(stage.why_not, name), nullptr) << name;
    }
  }

  profile::Workload workload = known_workload(777);
  workload.batch = 64;
  workload.batch_source = "--batch";
  const UseOfPeaks batch = utilization(stages, dense_graph(), h200(), workload, {"H200"});
  EXPECT_FALSE(batch.stages[0].mfu.wall);
  EXPECT_FALSE(batch.stages[0].mfu.gpu_busy);
  EXPECT_FALSE(batch.stages[0].floor);
  EXPECT_EQ(number_of(batch.stages[0].why_not, "batch"), 64);
  EXPECT_EQ(text_of(batch.stages[0].why_not, "batch"), "--batch");
}

// 64 x 777 tokens in 8 ms are 2.2 PFLOP in 8 ms: impossible. Decode's 40 ms at batch 64 would be
// possible (24 times the weights and 64 caches: 77.7 GB + 39.7 GB in 44 ms) but is not reported.
TEST(Utilization, OneRefusalTakesAllFiguresBack) {
  profile::Workload workload = known_workload(777);
  workload.batch = 64;
  workload.batch_source = "--batch";
  const UseOfPeaks use = utilization(dense_run(), dense_graph(), h200(), workload, {"H200"});
  EXPECT_EQ(kinds_of(use.stages[0].why_not), Kinds{"impossible_figure"});
  EXPECT_EQ(text_of(use.stages[0].why_not, "figure"), "MFU");
  EXPECT_EQ(text_of(use.stages[0].why_not, "stage"), "prefill");
  EXPECT_EQ(text_of(use.stages[0].why_not, "time"), "wall");
  EXPECT_FALSE(use.stages[1].mbu.wall);
  EXPECT_FALSE(use.stages[1].floor);
  EXPECT_FALSE(use.stages[1].memory_bound);
  EXPECT_EQ(kinds_of(use.stages[1].why_not), Kinds{"depends_on_impossible_figure"});
  EXPECT_EQ(number_of(use.stages[1].why_not, "batch"), 64);
  EXPECT_EQ(text_of(use.stages[1].why_not, "batch"), "--batch");
}

TEST(Utilization, AnotherGpuIsTheFirstSuspect) {
  llm::GpuSpec small = h200();
  small.tensor_bf16 = 65e12;
  small.memory_bandwidth = 0.3e12;
  const UseOfPeaks use =
      utilization(dense_run(), dense_graph(), small, known_workload(777), {"T4", "NVIDIA H200"});
  EXPECT_EQ(text_of(use.stages[0].why_not, "gpu"), "T4");
  EXPECT_EQ(text_of(use.stages[0].why_not, "captured_gpu"), "NVIDIA H200");
  EXPECT_EQ(number_of(use.stages[0].why_not, "prompt_tokens"), 777);
  ASSERT_EQ(use.warnings.items().size(), 1U);
  EXPECT_EQ(use.warnings.items()[0].code, "gpu_contradicts_capture");
}

// One GPU, 8 KV heads and 32 heads, 24 steps.
TEST(Utilization, WarnsOfWhatTheCaptureContradicts) {
  profile::Workload workload = known_workload(777);
  workload.tp = 3;
  workload.new_tokens = 100;
  workload.new_tokens_source = "--new-tokens";
  const UseOfPeaks use = utilization(dense_run(), dense_graph(), h200(), workload, {"H200"});
  ASSERT_EQ(use.warnings.items().size(), 4U);
  EXPECT_TRUE(use.warnings.items()[0].message.starts_with("tp 3, but the capture shows 1 GPU:"));
  EXPECT_TRUE(
      use.warnings.items()[1].message.starts_with("tp 3 does not divide the model's 32 attention"));
  EXPECT_TRUE(
      use.warnings.items()[2].message.starts_with("tp 3 does not divide the model's 8 KV heads"));
  EXPECT_EQ(use.warnings.items()[3].message,
            "--new-tokens says 100 new tokens, but a decode has 24 steps; the steps are used");
  // A rank of a job: the other GPUs are in other captures.
  workload.tp = 4;
  workload.new_tokens = 25;
  const auto warned = [&](uint32_t ranks) {
    const RequestedDevice device = {"H200", std::nullopt, trace::DeviceKind::gpu, ranks};
    const UseOfPeaks made = utilization(dense_run(), dense_graph(), h200(), workload, device);
    return !made.warnings.items().empty();
  };
  EXPECT_FALSE(warned(4));
  workload.tp = 1;
  EXPECT_FALSE(warned(1));
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

// 60 GFLOP/s and 20 GB/s; prefill of 8 ms (5 busy), decode of 44 ms (40 busy).
RecordedStages recorded(double prefill_flops, double decode_bytes) {
  StageUtilization prefill;
  prefill.cost.parts = {{"gemm", prefill_flops, 1e6, 0}};
  StageUtilization decode;
  decode.cost.parts = {{"gemv", 1e6, decode_bytes / 2, 0}, {"attention", 0, 0, decode_bytes / 2}};
  return {prefill, decode};
}
llm::GpuSpec small_cpu() {
  return llm::measured_cpu("N1, 2 threads, measured", 60e9, 20e9, "f32", "loop");
}
const RequestedDevice kCpu = {"N1", std::nullopt, trace::DeviceKind::cpu};

TEST(Utilization, OfWhatOperatorsRecorded) {
  const UseOfPeaks use =
      utilization(dense_run(), std::nullopt, small_cpu(), {}, kCpu, recorded(120e6, 400e6));
  EXPECT_TRUE(use.why_not.empty());
  EXPECT_TRUE(use.stages[0].from_operators);
  EXPECT_NEAR(use.stages[0].mfu.wall->value, 120e6 / (0.008 * 60e9), 1e-12);  // 25 %
  EXPECT_NEAR(use.stages[0].mfu.gpu_busy->value, 120e6 / (0.005 * 60e9), 1e-12);
  EXPECT_NEAR(use.stages[1].mbu.wall->value, 400e6 / (0.044 * 20e9), 1e-12);
  EXPECT_NEAR(use.stages[1].mbu.gpu_busy->value, 400e6 / (0.040 * 20e9), 1e-12);
  EXPECT_FALSE(use.stages[0].memory_bound);
  EXPECT_TRUE(use.stages[1].memory_bound);
  EXPECT_EQ(*use.stages[1].floor, 20 * kMs);
  EXPECT_EQ(use.stages[0].peak_name, "f32, measured on this CPU");
}

TEST(Utilization, BytesFromACacheCostTheMbuAlone) {
  const UseOfPeaks use =
      utilization(dense_run(), std::nullopt, small_cpu(), {}, kCpu, recorded(120e6, 2000e6));
  EXPECT_FALSE(use.stages[1].mbu.wall);
  EXPECT_FALSE(use.stages[1].floor);
  EXPECT_EQ(kinds_of(use.stages[1].why_not), Kinds{"above_measured_bandwidth"});
  EXPECT_EQ(text_of(use.stages[1].why_not, "time"), "wall");
  EXPECT_NEAR(number_of(use.stages[1].why_not, "share"), 2000e6 / (0.044 * 20e9), 1e-12);
  EXPECT_TRUE(use.stages[1].mfu.wall);
  EXPECT_TRUE(use.stages[0].mfu.wall && use.stages[0].mbu.wall);
  // A measured peak may be exceeded slightly: 44 ms at 20 GB/s are 880 MB.
  const UseOfPeaks near =
      utilization(dense_run(), std::nullopt, small_cpu(), {}, kCpu, recorded(120e6, 860e6));
  EXPECT_GT(near.stages[1].mbu.gpu_busy->value, 1);
  EXPECT_EQ(kinds_of(near.stages[1].why_not), Kinds{"slightly_above_measured"});
}

TEST(Utilization, RecordedFlopsBesideTheModels) {
  llm::GpuSpec fast = llm::measured_cpu("N1", 2e15, 5e12, "f32", "");
  const UseOfPeaks agree = utilization(dense_run(), dense_graph(), fast, known_workload(777), kCpu,
                                       recorded(kPrefillFlops * 1.04, 1e9));
  ASSERT_TRUE(agree.stages[0].recorded);
  EXPECT_FALSE(agree.stages[0].from_operators);
  EXPECT_NEAR(agree.stages[0].cost.flops(), kPrefillFlops, 1);
  EXPECT_NEAR(agree.stages[0].recorded->mfu.wall->value, kPrefillFlops * 1.04 / (0.008 * 2e15),
              1e-9);
  const auto of_prefill = [](const UseOfPeaks& use) {
    size_t count = 0;
    for (const Diagnostic& warning : use.warnings.items()) {
      if (warning.code == "recorded_flops_differ" && warning.message.starts_with("prefill")) {
        ++count;
      }
    }
    return count;
  };
  EXPECT_EQ(of_prefill(agree), 0U);
  const UseOfPeaks differ = utilization(dense_run(), dense_graph(), fast, known_workload(777), kCpu,
                                        recorded(kPrefillFlops * 1.5, 1e9));
  EXPECT_EQ(of_prefill(differ), 1U);
}

TEST(Utilization, ACpuWithoutPeaksSaysWhereTheyComeFrom) {
  const UseOfPeaks use =
      utilization(dense_run(), std::nullopt, std::nullopt, {}, kCpu, recorded(120e6, 400e6));
  EXPECT_FALSE(use.stages[0].mfu.wall);
  EXPECT_EQ(kinds_of(use.stages[0].why_not), Kinds{"cpu_peaks_unknown"});
  EXPECT_NEAR(use.stages[0].cost.flops(), 120e6, 1);
}

}  // namespace
}  // namespace llmprof::analysis
