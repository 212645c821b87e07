// Detection on real captures, compared with their annotations, which detection itself ignores.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "analysis/detection/detected_stages.h"
#include "analysis/detection/repeats.h"
#include "analysis/stages/kernel_scopes.h"
#include "analysis/stages/measure_stages.h"
#include "testing/read_capture.h"
#include "testing/reasons.h"
#include "testing/shared_captures.h"

namespace llmprof::analysis {
namespace {

using profile::ReasonKind;
using testing::has_kind;
using testing::Kinds;
using testing::kinds_of;
using testing::number_of;

struct Detected {
  trace::Trace trace;
  Stages stages;

  [[nodiscard]] std::string_view stage_of(const StageInstance& instance) const {
    return stages.stages[instance.stage].name;
  }
  [[nodiscard]] size_t instances_of(std::string_view stage, uint32_t steps) const {
    size_t count = 0;
    for (const StageInstance& instance : stages.instances) {
      if (stage_of(instance) == stage && instance.step_count == steps) ++count;
    }
    return count;
  }
  // Number of layers that a step's kernels show.
  [[nodiscard]] std::optional<RepeatedStretch> layers_of(StepId step) const {
    std::vector<uint32_t> tokens;
    for (size_t i = 0; i < trace.kernels.size(); ++i) {
      if (stages.owners.kernel_step[i] == step) tokens.push_back(trace.kernels.name[i].value);
    }
    return find_layer_period(tokens);
  }
};

Detected detect(const std::filesystem::path& path) {
  auto trace = testing::read_capture(path);
  EXPECT_TRUE(trace) << trace.error().message;
  const auto rules = KernelRules::load({});
  EXPECT_TRUE(rules);
  Detected detected{std::move(*trace), {}};
  const DescribedNames names(detected.trace, *rules);
  Diagnostics diagnostics;
  detected.stages = detected_stages(detected.trace, names, diagnostics);
  return detected;
}

// For each kernel, the row of the range of this name that was open on the launching thread.
std::vector<std::optional<size_t>> open_range(const trace::Trace& trace, std::string_view name) {
  std::map<trace::ThreadId, std::map<Nanoseconds, size_t>> by_start;
  for (size_t i = 0; i < trace.ranges.size(); ++i) {
    if (trace.strings[trace.ranges.text[i]] != name) continue;
    by_start[trace.ranges.thread[i]][trace.ranges.start[i]] = i;
  }
  std::vector<std::optional<size_t>> open(trace.kernels.size());
  for (size_t i = 0; i < trace.kernels.size(); ++i) {
    if (!trace.kernels.launch[i].valid()) continue;
    const size_t launch = trace.kernels.launch[i].index();
    const auto& ranges = by_start[trace.launches.thread[launch]];
    const auto behind = ranges.upper_bound(trace.launches.start[launch]);
    if (behind == ranges.begin()) continue;
    const size_t row = std::prev(behind)->second;
    if (trace.ranges.end[row] >= trace.launches.start[launch]) open[i] = row;
  }
  return open;
}

// Counts kernels inside annotated ranges, and those that detection assigns elsewhere.
void expect_as_annotated(const Detected& detected) {
  const trace::Trace& trace = detected.trace;
  const auto prefill = open_range(trace, "prefill");
  const auto decode = open_range(trace, "decode_all");
  const auto step = open_range(trace, "decode_step");
  size_t inside = 0;
  size_t elsewhere = 0;
  std::map<size_t, std::set<StepId>> steps_of_range;
  for (size_t i = 0; i < trace.kernels.size(); ++i) {
    if (!prefill[i] && !decode[i]) continue;
    ++inside;
    const InstanceId owner = detected.stages.owners.kernel_instance[i];
    const std::string_view stage =
        owner.valid() ? detected.stage_of(detected.stages.instances[owner.index()]) : "none";
    if (stage != (prefill[i] ? "prefill" : "decode")) ++elsewhere;
    if (step[i]) steps_of_range[*step[i]].insert(detected.stages.owners.kernel_step[i]);
  }
  ASSERT_GT(inside, 0U);
  EXPECT_EQ(elsewhere, 0U) << "of " << inside;
  std::set<StepId> steps;
  for (const auto& [range, of_range] : steps_of_range) {
    EXPECT_EQ(of_range.size(), 1U) << "step range " << range << " is several steps";
    steps.insert(of_range.begin(), of_range.end());
  }
  EXPECT_EQ(steps.size(), steps_of_range.size());
}

TEST(DetectedCapturesTest, DenseDecoderWithGraphNodes) {
  const auto captures = testing::h200_captures();
  const Detected detected = detect(captures / "h200-dense-graph" / "nsys_node.sqlite");
  expect_as_annotated(detected);
  EXPECT_EQ(detected.instances_of("prefill", 1), 5U);  // three in ranges, two before them
  EXPECT_EQ(detected.instances_of("decode", 24), 3U);
  EXPECT_EQ(detected.stages.steps.size(), 5U + 3 * 24 + 3);
  EXPECT_FALSE(detected.stages.serving);
  EXPECT_EQ(detected.stages.confidence, ConfidenceLevel::high);
  for (const StageInstance& instance : detected.stages.instances) {
    if (instance.step_count == 24) {
      EXPECT_EQ(instance.work.kernel_count, 12'408U);
    }
    if (detected.stage_of(instance) == "prefill") {
      EXPECT_EQ(instance.work.kernel_count, 462U);
    }
  }
  for (const Step& step : detected.stages.steps) {
    EXPECT_EQ(step.tokens, step.kind == StepKind::prefill ? 777U : 1U);
  }
  const auto layers = detected.layers_of(StepId(detected.stages.steps.size() - 1));
  ASSERT_TRUE(layers);
  EXPECT_EQ(layers->period, 63U);
  EXPECT_EQ(layers->count, 8U);
}

// The README gives times only for annotated prefills.
TEST(DetectedCapturesTest, GpuTimeOfPrefillAndDecodeIsTheAnnotatedOne) {
  const auto captures = testing::h200_captures();
  const Detected detected = detect(captures / "h200-dense-graph" / "nsys_node.sqlite");
  std::vector<double> prefill;
  std::vector<double> decode;
  for (const StageInstance& instance : detected.stages.instances) {
    const double milliseconds = static_cast<double>(instance.work.kernel_sum) / 1e6;
    if (detected.stage_of(instance) == "prefill") prefill.push_back(milliseconds);
    if (instance.step_count == 24) decode.push_back(milliseconds);
  }
  ASSERT_EQ(prefill.size(), 5U);
  ASSERT_EQ(decode.size(), 3U);
  constexpr std::array<double, 3> kPrefill{5.43, 5.41, 5.42};
  constexpr std::array<double, 3> kDecode{38.69, 38.72, 38.71};
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(prefill[i + 2], kPrefill[i], 0.005);
    EXPECT_NEAR(decode[i], kDecode[i], 0.005);
  }
}

TEST(DetectedCapturesTest, DenseDecoderWithHiddenGraphs) {
  const auto captures = testing::h200_captures();
  const Detected detected = detect(captures / "h200-dense-graph" / "nsys_graph.sqlite");
  expect_as_annotated(detected);
  EXPECT_EQ(detected.instances_of("prefill", 1), 5U);
  EXPECT_EQ(detected.instances_of("decode", 24), 3U);
  EXPECT_EQ(detected.stages.steps.size(), 5U + 3 * 24 + 3);
}

TEST(DetectedCapturesTest, DenseDecoderInAPyTorchTrace) {
  const auto captures = testing::h200_captures();
  const Detected detected = detect(captures / "h200-dense-graph" / "kineto_graph.json.gz");
  ASSERT_EQ(detected.stages.instances.size(), 4U);
  for (size_t i = 0; i < 4; ++i) {
    const StageInstance& instance = detected.stages.instances[i];
    EXPECT_EQ(detected.stage_of(instance), i % 2 == 0 ? "prefill" : "decode");
    EXPECT_EQ(instance.step_count, i % 2 == 0 ? 1U : 24U);
    EXPECT_EQ(instance.work.kernel_count, i % 2 == 0 ? 462U : 12'408U);
  }
  // A step is exactly one fill and the 516 kernels of one graph launch.
  std::map<StepId, std::map<trace::LaunchRow, size_t>> launches;
  for (size_t i = 0; i < detected.trace.kernels.size(); ++i) {
    ++launches[detected.stages.owners.kernel_step[i]][detected.trace.kernels.launch[i]];
  }
  for (size_t i = 0; i < detected.stages.steps.size(); ++i) {
    if (detected.stages.steps[i].kind != StepKind::decode) continue;
    ASSERT_EQ(launches[StepId(i)].size(), 2U);
    size_t largest = 0;
    for (const auto& [launch, kernels] : launches[StepId(i)]) largest = std::max(largest, kernels);
    EXPECT_EQ(largest, 516U);
  }
  EXPECT_EQ(coverage(detected.trace, detected.stages, std::nullopt)->kernels_in_stages,
            detected.trace.kernels.size());
}

TEST(DetectedCapturesTest, HuggingFaceLlamaEager) {
  const auto captures = testing::h200_captures();
  const Detected detected = detect(captures / "h200-llama-eager" / "nsys.sqlite");
  expect_as_annotated(detected);
  ASSERT_EQ(detected.stages.instances.size(), 4U);
  EXPECT_EQ(detected.instances_of("prefill", 1), 2U);
  EXPECT_EQ(detected.instances_of("decode", 4), 1U);
  EXPECT_EQ(detected.instances_of("decode", 16), 1U);
  for (const Step& step : detected.stages.steps) {
    EXPECT_EQ(step.tokens, step.kind == StepKind::prefill ? 1024U : 1U);
    if (step.kind == StepKind::decode) {
      EXPECT_EQ(step.work.kernel_count, 694U);
    }
  }
  for (const size_t step : {size_t{0}, detected.stages.steps.size() - 1}) {
    const auto layers = detected.layers_of(StepId(step));
    ASSERT_TRUE(layers);
    EXPECT_EQ(layers->count, 16U);
  }
}

// Two calls of generate_batch: 2 requests of 900 and 60 tokens, then 10 requests of 5,420 tokens in
// total (the program's random choice, repeated), 24 new tokens each. There is no padding and no
// graph, and each call takes all its prompts in one step, so no step is mixed.
TEST(DetectedCapturesTest, HuggingFaceContinuousBatching) {
  const auto captures = testing::h200_captures();
  const Detected detected = detect(captures / "h200-hf" / "hf_continuous_batching.sqlite");
  const Stages& stages = detected.stages;
  EXPECT_TRUE(stages.serving);
  ASSERT_EQ(stages.steps.size(), 48U);
  ASSERT_EQ(stages.instances.size(), 48U);
  for (size_t call = 0; call < 2; ++call) {
    const uint64_t requests = call == 0 ? 2 : 10;
    uint64_t new_tokens = 0;
    for (size_t i = 0; i < 24; ++i) {
      const Step& step = stages.steps[24 * call + i];
      EXPECT_EQ(step.kind, i == 0 ? StepKind::prefill : StepKind::decode);
      ASSERT_TRUE(step.batch);
      EXPECT_EQ(*step.batch, requests);
      new_tokens += *step.batch;
      EXPECT_EQ(step.tokens, i > 0 ? requests : call == 0 ? 960 : 5420);
    }
    EXPECT_EQ(new_tokens, 24 * requests);
  }
  const auto layers = detected.layers_of(StepId(47));
  ASSERT_TRUE(layers);
  EXPECT_EQ(layers->period, 47U);
  EXPECT_EQ(layers->count, 14U);
}

// The ranges have the expected values: "execute_context_2(511)_generation_1(1)".
TEST(DetectedCapturesTest, MixedStepsOfContinuousBatching) {
  const Detected detected = detect(testing::test_data("h200-serving/nsys.sqlite"));
  const Stages& stages = detected.stages;
  EXPECT_TRUE(stages.serving);
  struct Pass {
    StepKind kind;
    uint64_t tokens;
    uint64_t batch;
  };
  const std::vector<Pass> truth = {
      {StepKind::prefill, 512, 2}, {StepKind::mixed, 512, 3}, {StepKind::mixed, 512, 4},
      {StepKind::mixed, 512, 5},   {StepKind::mixed, 512, 6}, {StepKind::mixed, 505, 6},
      {StepKind::decode, 6, 6},    {StepKind::decode, 6, 6},  {StepKind::decode, 5, 5},
      {StepKind::decode, 4, 4},    {StepKind::decode, 3, 3},  {StepKind::decode, 2, 2},
      {StepKind::decode, 1, 1},
  };
  ASSERT_EQ(stages.steps.size(), truth.size());
  for (size_t i = 0; i < truth.size(); ++i) {
    EXPECT_EQ(stages.steps[i].kind, truth[i].kind) << i;
    EXPECT_EQ(stages.steps[i].tokens, truth[i].tokens) << i;
    EXPECT_EQ(stages.steps[i].batch, truth[i].batch) << i;
  }
}

// Two text prefills of 300 tokens and three steps through 12 layers; a vision pass, which has no
// tokens; then a smaller model of 8 layers under continuous batching, 6 sequences of 12 new tokens.
TEST(DetectedCapturesTest, DeepseekOcrTextPasses) {
  const auto captures = testing::h200_captures();
  const Detected detected = detect(captures / "h200-hf" / "deepseek_ocr2.sqlite");
  const Stages& stages = detected.stages;
  ASSERT_EQ(stages.steps.size(), 2U + 3 + 12);
  for (size_t i = 0; i < stages.steps.size(); ++i) {
    const bool prefill = i < 2 || i == 5;
    EXPECT_EQ(stages.steps[i].kind, prefill ? StepKind::prefill : StepKind::decode);
    EXPECT_EQ(stages.steps[i].tokens, i < 2 ? 300U : i < 5 ? 1U : i == 5 ? 750U : 6U);
    EXPECT_EQ(stages.steps[i].layers, i < 5 ? 12U : 8U);
  }
  EXPECT_NE(stages.confidence, ConfidenceLevel::high);
  // Its image encoders have 12 and 24 layers.
  EXPECT_EQ(number_of(stages.reason, "layers_outside"), 36) << stages.reason;
  EXPECT_EQ(number_of(stages.reason, "layers"), 192);
  EXPECT_EQ(number_of(stages.reason, "vision_layers"), 36);
  EXPECT_EQ(number_of(stages.reason, "vision_passes"), 1);
  ASSERT_EQ(stages.notes.size(), 1U);
  EXPECT_EQ(stages.stages[stages.notes[0].stage].name, "prefill");
  // From SQL: kernels from the first convolution up to the next random fill of weights.
  EXPECT_EQ(stages.notes[0].instances, 1U);
  EXPECT_EQ(stages.notes[0].kernel_count, 1421U);
  EXPECT_EQ(stages.notes[0].kernel_sum, 14585604);
  EXPECT_EQ(stages.notes[0].range_time, 1411993975);
  const auto layers = detected.layers_of(StepId(3));  // the first layer is dense
  ASSERT_TRUE(layers);
  EXPECT_EQ(layers->count, 11U);
}

TEST(DetectedCapturesTest, SmallDecoder) {
  const Detected detected = detect(testing::test_data("h200-decoder") / "nsys.sqlite");
  expect_as_annotated(detected);
  ASSERT_EQ(detected.stages.instances.size(), 4U);
  EXPECT_EQ(detected.instances_of("prefill", 1), 2U);
  EXPECT_EQ(detected.instances_of("decode", 8), 2U);
  const auto layers = detected.layers_of(StepId(4));
  ASSERT_TRUE(layers);
  EXPECT_EQ(layers->count, 4U);

  const Detected hidden = detect(testing::test_data("h200-decoder") / "nsys_graph_level.sqlite");
  expect_as_annotated(hidden);
  EXPECT_EQ(hidden.instances_of("prefill", 1), 2U);
  EXPECT_EQ(hidden.instances_of("decode", 8), 2U);
  EXPECT_EQ(hidden.stages.steps.size(), 19U);  // one extra to record the graph

  const Detected kineto = detect(testing::test_data("h200-decoder") / "kineto.json.gz");
  EXPECT_EQ(kineto.instances_of("prefill", 1), 1U);
  EXPECT_EQ(kineto.instances_of("decode", 8), 1U);
  EXPECT_EQ(coverage(kineto.trace, kineto.stages, std::nullopt)->kernels_in_stages,
            kineto.trace.kernels.size());
}

TEST(SharedCapturesDetectedTest, OtherPrograms) {
  LLMPROF_NEEDS_SHARED_CAPTURES(captures);
  size_t seen = 0;
  for (const auto& entry : std::filesystem::directory_iterator(captures / "public")) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(".sqlite") && !name.ends_with(".json.gz")) continue;
    const Detected detected = detect(entry.path());
    ++seen;
    // A diffusion model: forward passes, without anything that only an LLM has.
    if (name.find("xdit_sd") != std::string::npos) {
      ASSERT_EQ(detected.stages.stages.size(), 1U) << detected.stages.reason;
      EXPECT_EQ(detected.stages.stages[0].name, "forward");
      const TokenWalls walls = token_walls(detected.stages);
      EXPECT_TRUE(walls.first_token.empty() && walls.per_token.empty());
      EXPECT_TRUE(has_kind(detected.stages.reason, ReasonKind::no_sign_of_tokens));
      continue;
    }
    EXPECT_TRUE(detected.stages.stages.empty()) << name << ": " << detected.stages.reason;
    EXPECT_FALSE(detected.stages.reason.empty()) << name;
    EXPECT_FALSE(detected.stages.confidence) << name;
    if (name.find("resnet50") != std::string::npos) {
      EXPECT_EQ(kinds_of(detected.stages.reason), Kinds{"no_attention"});
    }
  }
  EXPECT_GE(seen, 10U);
}

}  // namespace
}  // namespace llmprof::analysis
