// Several models in one capture, training, and captures that end in the middle of a request.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

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

// A small model proposes three tokens; a large one verifies them in one pass.
TEST(DetectedModels, DraftAndVerifyPassesAreDistinguished) {
  Program program;
  for (int request = 0; request < 3; ++request) {
    program.pass({.kind = StepKind::prefill, .tokens = 400, .layers = 16});
    program.read_back();
    program.pass({.kind = StepKind::prefill, .tokens = 400, .layers = 4});
    program.read_back();
    for (int turn = 0; turn < 6; ++turn) {
      for (int draft = 0; draft < 3; ++draft) {
        program.pass({.layers = 4});
        program.read_back();
      }
      program.pass({.layers = 16});
      program.read_back();
    }
  }
  const Stages& stages = program.detect();
  program.expect_all_found();
  for (size_t i = 0; i < stages.steps.size(); ++i) {
    EXPECT_EQ(stages.steps[i].layers, program.truth()[i].pass.layers) << i;
  }
  EXPECT_TRUE(program.said("speculative_decoding"));
  EXPECT_FALSE(program.said("several_models"));
}

// The draft model takes the prompt and proposes tokens before the large one takes both.
TEST(DetectedModels, ARequestOfADraftModelIsOnePrefillAndOneDecode) {
  Program program;
  for (int request = 0; request < 4; ++request) {
    program.pass({.kind = StepKind::prefill, .tokens = 128, .layers = 4});
    program.read_back();
    for (int draft = 0; draft < 2; ++draft) {
      program.pass({.layers = 4});
      program.read_back();
    }
    program.pass({.kind = StepKind::prefill, .tokens = 130, .layers = 12});
    program.read_back();
    for (int turn = 0; turn < 5; ++turn) {
      for (int draft = 0; draft < 3; ++draft) {
        program.pass({.layers = 4});
        program.read_back();
      }
      program.pass({.layers = 12});
      program.read_back();
    }
  }
  const Stages& stages = program.detect();
  program.expect_all_found();
  ASSERT_EQ(stages.instances.size(), 8U);
  const auto steps_of = [&](size_t instance) {
    return std::count_if(stages.steps.begin(), stages.steps.end(),
                         [&](const Step& step) { return step.instance.index() == instance; });
  };
  for (size_t i = 0; i < stages.instances.size(); ++i) EXPECT_EQ(steps_of(i), i % 2 == 0 ? 4 : 20);
}

TEST(DetectedModels, APrefillMayBeAllThatIsRecorded) {
  Program program;
  program.kernel("fill_position");
  program.pass({.kind = StepKind::prefill, .tokens = 300, .layers = 12});
  const Stages& stages = program.detect();
  program.expect_all_found();
  ASSERT_EQ(stages.steps.size(), 1U);
  EXPECT_EQ(stages.steps[0].layers, 12U);
}

// A single step: as many rows after the layers as in them, as in any encoder.
TEST(DetectedModels, AStepAloneIsNotCalledAPrefill) {
  Program program;
  program.pass({.layers = 12});
  EXPECT_TRUE(program.detect().steps.empty());
}

// A compiler tries equally many candidates for each of its kernels, one after the other. They
// repeat like layers, but with a different kernel each time.
TEST(DetectedModels, CandidatesThatACompilerTriesAreNoLayers) {
  Program program;
  for (int tuned = 0; tuned < 3; ++tuned) {
    for (int candidate = 0; candidate < 18; ++candidate) {
      for (int part = 0; part < 4; ++part) {
        program.kernel(fmt::format("candidate_{}_{}", tuned, part),
                       1U + static_cast<uint32_t>(candidate));
      }
      program.kernel("check_bounds", 8192);
      program.kernel("compare_results", 64);
    }
    program.wait(50 * kMillisecond);
  }
  for (int request = 0; request < 3; ++request) program.request(300, 12);
  const Stages& stages = program.detect();
  program.expect_all_found();
  for (const Step& step : stages.steps) EXPECT_EQ(step.layers, 6U);
}

// Two models measured one after the other do not speculate.
TEST(DetectedModels, TwoModelsInOneCaptureAreSaid) {
  Program program;
  for (const uint32_t layers : {4U, 16U}) {
    for (int request = 0; request < 3; ++request) {
      program.pass({.kind = StepKind::prefill, .tokens = 400, .layers = layers});
      program.read_back();
      for (int i = 0; i < 8; ++i) {
        program.pass({.layers = layers});
        program.read_back();
      }
    }
  }
  program.detect();
  program.expect_all_found();
  EXPECT_TRUE(program.said("several_models"));
  EXPECT_FALSE(program.said("speculative_decoding"));
}

constexpr std::array<std::string_view, 9> kLayerOfNoName{"a", "b", "c", "d", "e",
                                                         "f", "g", "h", "i"};

// Training without revealing names: the program's thread launches forward passes, the framework's
// thread backward passes. The same kernels from one thread are not training.
TEST(DetectedModels, PassesOfTwoThreadsInTurnAreTraining) {
  const auto run = [](uint64_t second_thread) {
    Program program;
    for (int step = 0; step < 8; ++step) {
      for (const bool backward : {false, true}) {
        program.on_thread(backward ? second_thread : 1);
        program.kernel("embed");
        for (int layer = 0; layer < 6; ++layer) {
          for (const std::string_view name : kLayerOfNoName) program.kernel(name, backward ? 2 : 1);
        }
        program.kernel("head");
        program.read_back();
      }
    }
    return program.detect();
  };
  const Stages training = run(2);
  EXPECT_TRUE(training.stages.empty());
  EXPECT_EQ(kinds_of(training.reason), Kinds{"training_by_threads"});
  EXPECT_FALSE(has_kind(run(1).reason, ReasonKind::training_by_threads));
}

// The softmax of a loss runs between the head's GEMM and the first one of the backward pass,
// equally often in each training step, next to an embedding: by names alone it looks like a model's
// layers.
TEST(DetectedModels, TheSoftmaxOfALossIsNoAttention) {
  Program program;
  uint32_t random = 7;
  for (int step = 0; step < 12; ++step) {
    program.kernel("vectorized_gather_kernel", 64);
    for (int head = 0; head < 2; ++head) {
      for (int i = 0; i < 20; ++i) {
        random = random * 1664525U + 1013904223U;
        program.kernel(random >> 31U != 0 ? "gemm_a" : "add_a", 1 + (random >> 20U) % 9);
      }
      program.kernel("gemm_head");
      program.kernel("softmax", 64);
      program.kernel("gemm_gradient");
    }
    program.kernel("argmax");
  }
  const Stages& stages = program.detect();
  EXPECT_TRUE(stages.stages.empty()) << stages.reason;
  ASSERT_EQ(stages.reason.size(), 2U) << stages.reason;
  EXPECT_EQ(stages.reason[0].kind, ReasonKind::softmax_alone);
  EXPECT_EQ(number_of({stages.reason[0]}, "layers"), 24);
}

// A program killed during its last decode: 41 of 64 steps.
TEST(DetectedModels, ALastDecodeThatIsCutOffIsInNoMean) {
  Program program;
  for (int i = 0; i < 3; ++i) program.request(400, 64);
  program.request(400, 41);
  const Stages& stages = program.detect();
  program.expect_all_found();
  std::vector<uint64_t> counted;
  for (const StageInstance& instance : stages.instances) {
    if (!instance.warmup && stages.stages[instance.stage].name == "decode") {
      counted.push_back(instance.step_count);
    }
  }
  EXPECT_EQ(counted, (std::vector<uint64_t>{64, 64, 64}));
  EXPECT_TRUE(program.said("stage_cut_off"));
}

}  // namespace
}  // namespace llmprof::analysis
