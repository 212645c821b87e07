#include <gtest/gtest.h>

#include "testing/detected_program.h"
#include "testing/reasons.h"

namespace llmprof::analysis {
namespace {

using detection_test::kMicrosecond;
using detection_test::kMillisecond;
using detection_test::Program;
using detection_test::ProgramPass;
using testing::has_kind;

// vLLM with VLLM_NVTX_SCOPES_FOR_PROFILING=1. No pass equals the previous one: nothing repeats.
void scoped_pass(Program& program, uint32_t tokens, uint32_t sequences) {
  const StepKind kind = tokens > sequences ? StepKind::prefill : StepKind::decode;
  const Nanoseconds begin = program.now();
  program.range("schedule: allocate_slots", begin - 40 * kMicrosecond, begin - 20 * kMicrosecond);
  program.pass(
      {.kind = kind, .tokens = tokens, .sequences = sequences, .layers = 3, .packed = true},
      [&](Program& inner, const ProgramPass& pass, uint32_t layer) {
        for (uint32_t i = 0; i < (tokens * 7 + layer * 5) % 11; ++i) {
          inner.kernel("add_expert", pass.tokens);
        }
        inner.attention(pass);
        inner.kernel("gemm_out");
      });
  const Nanoseconds end = program.now();
  program.range("gpu_model_runner: preprocess", begin - kMicrosecond, begin + 15 * kMicrosecond);
  program.range("gpu_model_runner: forward", begin + 15 * kMicrosecond, end - 25 * kMicrosecond);
  program.range("gpu_model_runner: sample", end - 25 * kMicrosecond, end);
  program.range("gpu_model_runner: bookkeep", end, end + 5 * kMicrosecond);
  program.wait(50 * kMicrosecond);
}

TEST(EnginePasses, AreBetweenTheRangesOfTheModelRunner) {
  Program program;
  for (const auto& [tokens, sequences] :
       {std::pair{300U, 2U}, {2U, 2U}, {2U, 2U}, {130U, 1U}, {3U, 3U}, {3U, 3U}}) {
    scoped_pass(program, tokens, sequences);
  }
  const Stages& stages = program.detect(Program::Ranges::used);
  program.expect_all_found();
  EXPECT_TRUE(stages.serving);
  EXPECT_EQ(stages.steps[0].tokens, 300U);
  EXPECT_EQ(stages.steps[0].batch, 2U);
  EXPECT_EQ(stages.steps[5].batch, 3U);
  EXPECT_EQ(stages.steps[5].layers, 3U);
  EXPECT_TRUE(has_kind(stages.reason, profile::ReasonKind::passes_between_ranges));
}

// Without the ranges the same kernels show nothing, and the reason says so.
TEST(EnginePasses, AreNoneWithoutRanges) {
  Program program;
  for (int i = 0; i < 3; ++i) scoped_pass(program, 300 + 13 * static_cast<uint32_t>(i), 2);
  const Stages& stages = program.detect();
  EXPECT_FALSE(has_kind(stages.reason, profile::ReasonKind::passes_between_ranges));
}

}  // namespace
}  // namespace llmprof::analysis
