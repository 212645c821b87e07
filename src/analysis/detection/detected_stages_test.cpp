#include "analysis/detection/detected_stages.h"

#include <gtest/gtest.h>

#include <array>

#include "analysis/stages/measure_stages.h"
#include "testing/detected_program.h"
#include "testing/reasons.h"

namespace llmprof::analysis {
namespace {

using profile::ReasonKind;
using testing::has_kind;
using testing::Kinds;
using testing::kinds_of;
using testing::number_of;
using namespace detection_test;

TEST(DetectedStagesTest, RequestsOfOnePrefillAndSomeSteps) {
  Program program;
  for (int i = 0; i < 300; ++i) program.kernel("fill_weights", 1000);
  program.wait(50 * kMillisecond);
  program.request(512, 4);
  program.request(512, 16);
  const Stages& stages = program.detect();
  program.expect_all_found();
  ASSERT_EQ(stages.stages.size(), 2U);
  EXPECT_EQ(stages.stages[0].name, "prefill");
  EXPECT_EQ(stages.stages[0].source, StageSource::detected);
  EXPECT_EQ(stages.stages[1].name, "decode");
  ASSERT_EQ(stages.instances.size(), 4U);
  EXPECT_EQ(stages.instances[1].step_count, 4U);
  EXPECT_EQ(stages.instances[3].step_count, 16U);
  EXPECT_FALSE(stages.serving);
  EXPECT_EQ(stages.steps[0].tokens, 512U);
  EXPECT_EQ(stages.steps[0].batch, 1U);
  EXPECT_EQ(stages.steps[1].tokens, 1U);
  EXPECT_EQ(stages.confidence, ConfidenceLevel::high);
}

TEST(DetectedStagesTest, KernelsMayChangeWithTheContext) {
  Program program;
  int steps = 0;
  const Program::Layer layer = [&](Program& r, const ProgramPass& pass, uint32_t) {
    r.kernel("add_norm", pass.tokens * 4);
    r.kernel(steps < 60 ? "gemm_qkv" : "gemm_qkv_other");
    r.attention(pass);
    if (steps > 40) r.kernel("gemm_split");
    r.kernel("gemm_out");
    r.kernel("add_gate", pass.tokens * 11);
    ++steps;
  };
  program.request(300, 20, layer);
  program.request(300, 20, layer);
  program.detect();
  program.expect_all_found();
}

// A loop over the active experts has a different length in every layer.
TEST(DetectedStagesTest, LayersNeedNotBeEqual) {
  Program program;
  uint32_t random = 1;
  const Program::Layer layer = [&](Program& r, const ProgramPass& pass, uint32_t) {
    r.kernel("add_norm", pass.tokens * 4);
    r.kernel("gemm_qkv");
    r.attention(pass);
    r.kernel("topk", pass.tokens);
    random = random * 1664525U + 1013904223U;
    for (uint32_t expert = 0; expert < 2 + (random >> 28U); ++expert) {
      r.kernel("gemm_expert");
      r.kernel("add_expert", pass.tokens);
    }
  };
  program.request(128, 12, layer);
  program.request(128, 12, layer);
  const Stages& stages = program.detect();
  program.expect_all_found();
  EXPECT_NE(stages.confidence, ConfidenceLevel::high);  // hardly any pass repeats kernel by kernel
}

TEST(DetectedStagesTest, ExpertsInEverySecondLayerMarkNoPass) {
  Program program;
  const Program::Layer layer = [](Program& r, const ProgramPass& pass, uint32_t number) {
    Program::dense_layer(r, pass, number);
    if (number % 2 == 1) r.kernel("topk", pass.tokens);
    if (number % 2 == 1) r.kernel("gemm_expert");
  };
  program.request(128, 12, layer);
  program.request(128, 12, layer);
  program.detect();
  program.expect_all_found();
}

TEST(DetectedStagesTest, ModelsOfTwoLayers) {
  Program program;
  for (int request = 0; request < 3; ++request) {
    program.pass({.kind = StepKind::prefill, .tokens = 99, .layers = 2});
    for (int i = 0; i < 9; ++i) program.pass({.layers = 2});
  }
  program.detect();
  program.expect_all_found();
}

TEST(DetectedStagesTest, AttentionMayBeUnfused) {
  Program program;
  const Program::Layer layer = [](Program& r, const ProgramPass& pass, uint32_t) {
    r.kernel("add_norm", pass.tokens * 4);
    r.kernel("gemm_qkv");
    r.kernel("gemm_scores");
    r.kernel("add_mask");
    r.kernel("softmax", pass.tokens);
    r.kernel("gemm_values");
    r.kernel("gemm_mlp");
  };
  program.request(64, 8, layer);
  program.request(64, 8, layer);
  program.detect();
  program.expect_all_found();
}

// A read by the host ends a step, even if kernels run between it and the selection.
TEST(DetectedStagesTest, AStepEndsWhereItsResultIsRead) {
  Program program;
  std::vector<size_t> ends;
  program.pass({.kind = StepKind::prefill, .tokens = 200});
  for (int i = 0; i < 10; ++i) {
    program.pass({});
    program.kernel("add_stopping");
    program.kernel("add_unfinished");
    ends.push_back(program.rows());
    program.read_back();
  }
  const Stages& stages = program.detect();
  ASSERT_EQ(stages.steps.size(), 11U);
  for (size_t i = 0; i < ends.size(); ++i) {
    EXPECT_EQ(stages.owners.kernel_step[ends[i] - 1], StepId(i + 1));
    if (i + 1 < ends.size()) {
      EXPECT_EQ(stages.owners.kernel_step[ends[i]], StepId(i + 2));
    }
    EXPECT_EQ(stages.owners.memory_step[i], StepId(i + 1));
  }
}

TEST(DetectedStagesTest, AGraphLaunchIsNotCut) {
  Program program;
  program.pass({.kind = StepKind::prefill, .tokens = 200});
  std::vector<size_t> ends;
  for (uint32_t i = 1; i <= 10; ++i) {
    program.in_graph(i);
    program.pass({});
    program.kernel("add_position");  // after the selection
    ends.push_back(program.rows());
  }
  const Stages& stages = program.detect();
  ASSERT_EQ(stages.steps.size(), 11U);
  for (size_t i = 0; i + 1 < ends.size(); ++i) {
    EXPECT_EQ(stages.owners.kernel_step[ends[i] - 1], StepId(i + 1));
    EXPECT_EQ(stages.owners.kernel_step[ends[i]], StepId(i + 2));
  }
}

TEST(DetectedStagesTest, StepsAloneAreAGuess) {
  Program program;
  for (int i = 0; i < 20; ++i) program.pass({});
  const Stages& stages = program.detect();
  program.expect_all_found();
  ASSERT_EQ(stages.instances.size(), 1U);
  EXPECT_NE(stages.confidence, ConfidenceLevel::high);
  EXPECT_TRUE(has_kind(stages.reason, ReasonKind::kind_is_a_guess));
}

// llama-bench -p 0: one warm-up token, which loads kernels, then the decode.
TEST(DetectedStagesTest, ASlowFirstStepOfADecodeAloneIsAWarmUp) {
  Program program;
  const auto cold = [](Program& of, const ProgramPass& pass, uint32_t layer) {
    of.wait(2 * kMillisecond);
    Program::dense_layer(of, pass, layer);
  };
  program.pass({}, cold);
  for (int i = 0; i < 20; ++i) program.pass({});
  const Stages& stages = program.detect();
  program.expect_all_found();
  ASSERT_EQ(stages.instances.size(), 2U);
  EXPECT_EQ(stages.instances[0].step_count, 1U);
  EXPECT_TRUE(stages.instances[0].warmup);
  EXPECT_EQ(stages.instances[0].why_warmup, WarmupReason::fewer_steps);
  EXPECT_FALSE(stages.instances[1].warmup);
}

TEST(DetectedStagesTest, PrefillsAlone) {
  Program program;
  for (int i = 0; i < 5; ++i) program.pass({.kind = StepKind::prefill, .tokens = 512});
  const Stages& stages = program.detect();
  program.expect_all_found();
  EXPECT_EQ(stages.instances.size(), 5U);
}

TEST(DetectedStagesTest, HiddenGraphReplaysAreSteps) {
  Program program;
  for (int request = 0; request < 3; ++request) {
    program.pass({.kind = StepKind::prefill, .tokens = 200});
    for (int i = 0; i < 7; ++i) {
      program.kernel("fill_position");
      program.replay();
    }
  }
  const Stages& stages = program.detect();
  ASSERT_EQ(stages.steps.size(), 24U) << stages.reason;
  ASSERT_EQ(stages.instances.size(), 6U);
  for (size_t i = 0; i < 6; ++i) {
    const bool decode = i % 2 == 1;
    EXPECT_EQ(stages.stages[stages.instances[i].stage].name, decode ? "decode" : "prefill");
    EXPECT_EQ(stages.instances[i].step_count, decode ? 7U : 1U);
    if (decode) {
      EXPECT_EQ(stages.instances[i].work.hidden_graph_sum, kMicrosecond * 7 * 498);
    }
  }
  for (size_t i = 0; i < stages.owners.replay_step.size(); ++i) {
    EXPECT_EQ(stages.owners.replay_step[i], StepId(i / 7 * 8 + 1 + i % 7));
  }
}

TEST(DetectedStagesTest, NothingToFindSaysWhy) {
  Program convolutions;
  for (int i = 0; i < 1000; ++i) convolutions.kernel(i % 3 == 0 ? "gemm_conv" : "add_relu");
  EXPECT_EQ(kinds_of(convolutions.detect().reason), Kinds{"no_attention"});

  Program diffusion;  // layers repeat, but there are no tokens
  for (int i = 0; i < 100; ++i) Program::dense_layer(diffusion, {}, 0);
  const Stages& stages = diffusion.detect();
  EXPECT_TRUE(stages.stages.empty());
  EXPECT_FALSE(stages.confidence);
  EXPECT_EQ(kinds_of(stages.reason), Kinds{"no_pass_ends"});
  EXPECT_EQ(number_of(stages.reason, "layers"), 100);

  Program training;
  for (int i = 0; i < 4; ++i) {
    training.pass({.kind = StepKind::prefill, .tokens = 100});
    for (int j = 0; j < 50; ++j) training.kernel("backward_add");
  }
  EXPECT_EQ(kinds_of(training.detect().reason), Kinds{"training_by_kernels"});

  Program nothing;
  EXPECT_EQ(kinds_of(nothing.detect().reason), Kinds{"no_gpu_work"});

  Program single;
  single.pass({});
  EXPECT_TRUE(single.detect().stages.empty());
}

TEST(DetectedStagesTest, NoiseIsNoModel) {
  Program program;
  uint32_t random = 7;
  constexpr std::array<std::string_view, 8> kNames{
      "attention_split", "gemm_a", "add_a", "argmax", "gemm_b", "add_b", "index_select", "topk"};
  for (int i = 0; i < 5000; ++i) {
    random = random * 1664525U + 1013904223U;
    program.kernel(kNames[random >> 29U], 1 + (random >> 20U) % 7);
  }
  const Stages& stages = program.detect();
  EXPECT_TRUE(stages.stages.empty() || stages.confidence == ConfidenceLevel::low) << stages.reason;
}

// Steps follow each other and never overlap, in any order of passes.
TEST(DetectedStagesTest, StepsNeverOverlap) {
  for (uint32_t seed = 1; seed <= 200; ++seed) {
    Program program;
    uint32_t random = seed;
    const auto draw = [&](uint32_t below) {
      random = random * 1664525U + 1013904223U;
      return (random >> 16U) % below;
    };
    for (int i = 0; i < 30; ++i) {
      switch (draw(6)) {
        case 0:
          program.kernel("add_other", 1 + draw(100));
          break;
        case 1:
          program.replay();
          break;
        case 2:
          program.read_back();
          break;
        case 3:
          program.in_graph(draw(4));
          break;
        default:
          program.pass({.kind = draw(3) == 0 ? StepKind::prefill : StepKind::decode,
                        .tokens = 1 + draw(40),
                        .sequences = 1 + draw(3),
                        .layers = 4 + draw(seed % 3 + 1),
                        .packed = draw(5) == 0});
      }
    }
    const Stages& stages = program.detect();
    uint32_t reached = 0;
    for (const StepId step : stages.owners.kernel_step) {
      if (!step.valid()) continue;
      ASSERT_GE(step.value, reached) << "seed " << seed;
      reached = step.value;
    }
  }
}

TEST(DetectedStagesTest, FindsAllStepsOfALongRun) {
  Program program;
  while (program.rows() < 300'000) program.request(200, 500);
  const Stages& stages = program.detect();
  EXPECT_EQ(stages.steps.size(), program.truth().size());
}

// The denoising steps of a diffusion model on batches of two: forward passes without tokens.
TEST(DetectedStagesTest, PassesOfAModelThatIsNoLlm) {
  Program program;
  for (int image = 0; image < 3; ++image) {
    for (int i = 0; i < 12; ++i) {
      program.kernel("add_patches", 512);
      for (uint32_t layer = 0; layer < 6; ++layer) {
        Program::dense_layer(program, {.kind = StepKind::prefill, .tokens = 512}, layer);
      }
      program.kernel("gemm_out");
      program.kernel("add_noise", 512);
    }
    program.kernel("gemm_decode_image");
    program.kernel("fill_image");
    program.read_back(3 << 18);
  }
  const Stages& stages = program.detect();
  ASSERT_EQ(stages.stages.size(), 1U) << stages.reason;
  EXPECT_EQ(stages.stages[0].name, "forward");
  EXPECT_EQ(stages.steps.size(), 36U);
  const TokenWalls walls = token_walls(stages);
  EXPECT_TRUE(walls.first_token.empty() && walls.per_token.empty());
  EXPECT_NE(stages.confidence, ConfidenceLevel::high);
}

// Classifies sentences of different lengths: embedding, layers, then a small GEMM chooses the most
// likely of four labels.
TEST(DetectedStagesTest, AClassifierIsNoLlm) {
  Program program;
  for (int round = 0; round < 4; ++round) {
    for (const uint32_t tokens : {64U, 128U, 256U}) {
      program.kernel("vectorized_gather_kernel", tokens);
      for (uint32_t layer = 0; layer < 6; ++layer) {
        Program::dense_layer(program, {.kind = StepKind::prefill, .tokens = tokens}, layer);
      }
      program.kernel("gemm_labels");
      program.kernel("argmax", 1);
      program.read_back(8);
    }
  }
  const Stages& stages = program.detect();
  ASSERT_EQ(stages.stages.size(), 1U) << stages.reason;
  EXPECT_EQ(stages.stages[0].name, "forward");
}

}  // namespace
}  // namespace llmprof::analysis
