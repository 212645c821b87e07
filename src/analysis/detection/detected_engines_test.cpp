#include "analysis/detection/detected_stages.h"

#include <gtest/gtest.h>

#include "analysis/stages/measure_stages.h"
#include "testing/detected_program.h"
#include "testing/reasons.h"

namespace llmprof::analysis {
namespace {

using namespace detection_test;

// Sequences come and go: 2 are decoded, a third and a fourth join while the others continue.
TEST(DetectedStagesTest, ContinuousBatching) {
  Program program;
  const auto engine = [&](StepKind kind, uint32_t tokens, uint32_t sequences) {
    program.pass({.kind = kind, .tokens = tokens, .sequences = sequences, .packed = true});
    program.read_back();
  };
  engine(StepKind::prefill, 300, 2);
  for (int i = 0; i < 5; ++i) engine(StepKind::decode, 2, 2);
  engine(StepKind::mixed, 2 + 170, 3);
  for (int i = 0; i < 4; ++i) engine(StepKind::decode, 3, 3);
  engine(StepKind::mixed, 3 + 50, 4);
  for (int i = 0; i < 3; ++i) engine(StepKind::decode, 4, 4);
  engine(StepKind::decode, 2, 2);
  engine(StepKind::prefill, 80, 1);  // the two wait
  for (int i = 0; i < 4; ++i) engine(StepKind::decode, 3, 3);

  const Stages& stages = program.detect();
  program.expect_all_found();
  EXPECT_TRUE(stages.serving);
  EXPECT_EQ(stages.instances.size(), program.truth().size());
  EXPECT_EQ(stages.stages.size(), 3U);
  for (size_t i = 0; i < program.truth().size(); ++i) {
    EXPECT_EQ(stages.steps[i].tokens, program.truth()[i].pass.tokens) << i;
    EXPECT_EQ(stages.steps[i].batch, program.truth()[i].pass.sequences) << i;
  }
}

// Long prompts in pieces: sequences whose prompts are complete get a token in every pass.
TEST(DetectedStagesTest, PromptsInPiecesBesideSequencesThatGoOn) {
  Program run;
  const auto engine = [&](StepKind kind, uint32_t tokens, uint32_t sequences) {
    run.pass({.kind = kind, .tokens = tokens, .sequences = sequences, .packed = true});
    run.read_back();
  };
  engine(StepKind::prefill, 256, 2);
  engine(StepKind::mixed, 256, 3);
  engine(StepKind::mixed, 256, 4);
  engine(StepKind::mixed, 250, 4);
  for (int i = 0; i < 6; ++i) engine(StepKind::decode, 4, 4);
  run.detect();
  run.expect_all_found();
}

// The same number of sequences again, right after the last: the next requests, not a mixed step.
TEST(DetectedStagesTest, BatchesOneAfterTheOther) {
  Program run;
  for (int request = 0; request < 3; ++request) {
    run.pass({.kind = StepKind::prefill, .tokens = 4 * 90, .sequences = 4});
    for (int i = 0; i < 6; ++i) run.pass({.kind = StepKind::decode, .tokens = 4, .sequences = 4});
  }
  const Stages& stages = run.detect();
  run.expect_all_found();
  EXPECT_EQ(stages.stages.size(), 2U);
}

TEST(DetectedStagesTest, EachGpuHasItsOwn) {
  Program program;
  for (int request = 0; request < 2; ++request) {
    for (uint32_t device = 0; device < 2; ++device) {
      program.on_device(device);
      program.request(100, 5);
    }
  }
  const Stages& stages = program.detect();
  program.expect_all_found();
  ASSERT_EQ(stages.instances.size(), 8U);
  EXPECT_NE(stages.instances[0].device, stages.instances[2].device);
}

// A server saves a cache 5 ms after the last token, and runs the next prompt 5 ms later.
TEST(DetectedStagesTest, CopiesBetweenRequestsAreOfNoPass) {
  Program program;
  for (int request = 0; request < 4; ++request) {
    program.request(256, 20);
    program.wait(5 * kMillisecond);
    program.read_back();
    program.wait(5 * kMillisecond);
  }
  const Stages& stages = program.detect();
  program.expect_all_found();
  ASSERT_EQ(stages.owners.memory_instance.size(), 4U);
  for (const auto& owner : stages.owners.memory_instance) EXPECT_FALSE(owner.valid());
}

// Like llama.cpp: the logits of each sequence that gets a token are copied to the host, and a batch
// is split into passes of equally many tokens per sequence. Norms have one block per token; nothing
// is gathered or selected per sequence.
void engine_layer(Program& program, const ProgramPass& pass, uint32_t /*layer*/) {
  program.kernel("norm", pass.tokens);
  program.kernel("gemm_qkv");
  program.kernel("add_rope", pass.tokens * 4);
  program.kernel("attention");
  program.kernel("gemm_out");
  program.kernel("norm", pass.tokens);
  program.kernel("gemm_up");
  program.kernel("add_gate", pass.tokens * 11);
  program.kernel("gemm_down");
}
void engine_pass(Program& program, StepKind kind, uint32_t tokens, uint32_t results) {
  ProgramPass pass{.kind = kind, .tokens = tokens, .sequences = 1};
  program.pass_on_host(pass, engine_layer);
  if (results > 0) program.read_back(uint64_t{results} * 4096);
  program.wait(100 * kMicrosecond);
}

TEST(DetectedStagesTest, ResultsThatTheHostReadsShowTheSequences) {
  Program program;
  engine_pass(program, StepKind::prefill, 300, 1);
  for (int i = 0; i < 10; ++i) engine_pass(program, StepKind::decode, 1, 1);
  for (int round = 0; round < 4; ++round) {
    // Two prompts arrive: one token of each next to the sequence in decode, then the rest.
    engine_pass(program, StepKind::mixed, 3, 1);
    engine_pass(program, StepKind::prefill, 512, 0);
    engine_pass(program, StepKind::prefill, 127, 2);
    for (int i = 0; i < 10; ++i) engine_pass(program, StepKind::decode, 3, 3);
    for (int i = 0; i < 10; ++i) engine_pass(program, StepKind::decode, 1, 1);
  }
  const Stages& stages = program.detect();
  program.expect_all_found();
  EXPECT_TRUE(stages.serving);
  EXPECT_EQ(stages.steps[11].batch, 1U);
  EXPECT_EQ(stages.steps[11].tokens, 3U);
  EXPECT_FALSE(stages.steps[12].batch);
  EXPECT_EQ(stages.steps[13].batch, 2U);
  EXPECT_EQ(stages.steps[14].batch, 3U);
}

TEST(DetectedStagesTest, WhatAnEngineDoesBetweenStepsIsOfTheNextOne) {
  Program program;
  for (int request = 0; request < 3; ++request) {
    engine_pass(program, StepKind::prefill, 300, 1);
    for (int i = 0; i < 10; ++i) engine_pass(program, StepKind::decode, 1, 1);
    for (int i = 0; i < 10; ++i) engine_pass(program, StepKind::decode, 2, 2);
    program.wait(50 * kMillisecond);  // for the next request
  }
  const Stages& stages = program.detect();
  program.expect_all_found();
  ASSERT_EQ(stages.instances.size(), 63U);
  for (size_t i = 1; i < stages.instances.size(); ++i) {
    const Nanoseconds pause = stages.instances[i].start - stages.instances[i - 1].end;
    if (i % 21 == 0) {
      EXPECT_GT(pause, 50 * kMillisecond) << i;
    } else {
      EXPECT_EQ(pause, 0) << i;
    }
  }
}

// A draft model of two layers proposes four tokens; a model of eight layers verifies them: five
// tokens of one sequence pass through it, but are not a prompt.
TEST(DetectedStagesTest, PassesOfADraftModel) {
  Program program;
  for (int request = 0; request < 3; ++request) {
    program.pass({.kind = StepKind::prefill, .tokens = 200, .layers = 2});
    for (int round = 0; round < 6; ++round) {
      for (int draft = 0; draft < 4; ++draft) program.pass({.layers = 2});
      const bool prompt = round == 0;
      program.pass({.kind = prompt ? StepKind::prefill : StepKind::decode,
                    .tokens = prompt ? 204U : 5U,
                    .layers = 8});
    }
  }
  const Stages& stages = program.detect();
  program.expect_all_found();
  EXPECT_TRUE(stages.speculative);
  EXPECT_FALSE(stages.serving);
  EXPECT_TRUE(program.said("speculative_decoding"));
  // The number of tokens per round is unknown.
  EXPECT_TRUE(token_walls(stages).per_token.empty());
}

// Sampling takes several kernels; the last one chooses the token of each of four sequences. The
// capture's last pass also has them, with nothing after it.
TEST(DetectedStagesTest, TheLastStepOfASampledBatch) {
  Program program;
  const auto sample = [&](const ProgramPass& pass) {
    program.pass(pass);
    program.kernel("topk", 1);
    program.kernel("add_probabilities", 4);
    program.kernel("argmax", 4);
  };
  for (int request = 0; request < 2; ++request) {
    sample({.kind = StepKind::prefill, .tokens = 800, .sequences = 4});
    for (int i = 0; i < 10; ++i) sample({.tokens = 4, .sequences = 4});
  }
  const Stages& stages = program.detect();
  ASSERT_EQ(stages.steps.size(), 22U);
  for (size_t i = 0; i < stages.steps.size(); ++i) {
    EXPECT_EQ(stages.steps[i].kind, i % 11 == 0 ? StepKind::prefill : StepKind::decode) << i;
  }
}

}  // namespace
}  // namespace llmprof::analysis
