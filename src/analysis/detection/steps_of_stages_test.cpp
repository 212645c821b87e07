#include "analysis/detection/detected_stages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "analysis/stages/annotated_stages.h"
#include "testing/hand_made_trace.h"

namespace llmprof::analysis {
namespace {

constexpr Nanoseconds kTick = 1000;  // a microsecond
constexpr uint32_t kLayers = 6;
constexpr size_t kKernelsOfAPass = 1 + 8 * kLayers + 2;

// A program with ranges around its stages and unknown kernel names.
class StepsOfStagesTest : public ::testing::Test {
 protected:
  void kernel(std::string_view name, uint32_t blocks) {
    testing::HandMadeTrace::Place place;
    place.grid = {blocks, 1, 1};
    trace_.kernel(name, now_, now_ + 2 * kTick, now_ + 5 * kTick, place);
    now_ += 10 * kTick;
  }
  void pass(uint32_t tokens) {
    kernel("a", tokens);
    for (uint32_t layer = 0; layer < kLayers; ++layer) {
      for (const char* name : {"b", "c", "d", "e", "f", "g", "h", "i"}) kernel(name, tokens);
    }
    kernel("j", 1);
    kernel("k", 1);
    trace_.copy(now_, now_ + 2 * kTick, now_ + 3 * kTick);
    trace::Trace& trace = trace_.builder().trace();
    trace.memory_operations.detail.back() = trace_.builder().string("Device-to-Host");
    now_ += 50 * kTick;
  }
  template <class Content>
  void within(std::string_view label, const Content& content) {
    const Nanoseconds begin = now_;
    content();
    trace_.range(label, begin - kTick, now_ - kTick);
    now_ += 20 * kTick;
  }
  void request(uint32_t steps) {
    within("LLM@prefill", [&] { pass(100); });
    within("LLM@decode_all", [&] {
      for (uint32_t i = 0; i < steps; ++i) pass(1);
    });
  }

  const Stages& find() {
    const auto conf = config::ConfFiles::open(std::nullopt);
    EXPECT_TRUE(conf);
    const auto ranges = StageRules::load(*conf);
    EXPECT_TRUE(ranges) << ranges.error().message;
    const auto kernels = KernelRules::load({});
    EXPECT_TRUE(kernels);
    frozen_ = trace_.freeze();
    const DescribedNames names(frozen_, *kernels);
    auto found = annotated_stages(
        frozen_, MeaningfulRanges(frozen_, *ranges), diagnostics_,
        [&](Stages& stages) { add_detected_steps(frozen_, names, stages, diagnostics_); });
    EXPECT_TRUE(found);
    if (found) stages_ = std::move(*found);
    return stages_;
  }

  std::vector<uint32_t> steps_of(std::string_view stage) const {
    std::vector<uint32_t> counts;
    for (const StageInstance& instance : stages_.instances) {
      if (stages_.stages[instance.stage].name == stage) counts.push_back(instance.step_count);
    }
    return counts;
  }
  std::optional<uint64_t> said_of_steps() const {
    for (const Diagnostic& said : diagnostics_.items()) {
      if (said.code == "steps_detected") return said.count;
    }
    return std::nullopt;
  }

  testing::HandMadeTrace trace_;
  Nanoseconds now_ = 1000 * kTick;
  trace::Trace frozen_;
  Stages stages_;
  Diagnostics diagnostics_;
};

TEST_F(StepsOfStagesTest, AnAnnotatedDecodeGetsItsPasses) {
  for (int i = 0; i < 3; ++i) request(8);
  find();
  EXPECT_EQ(steps_of("decode"), (std::vector<uint32_t>{8, 8, 8}));
  ASSERT_EQ(stages_.steps.size(), 24U);
  std::map<uint32_t, size_t> kernels;
  for (const StepId step : stages_.owners.kernel_step) {
    if (step.valid()) ++kernels[step.value];
  }
  ASSERT_EQ(kernels.size(), 24U);
  for (const auto& [step, count] : kernels) EXPECT_EQ(count, kKernelsOfAPass) << step;
  for (const Step& step : stages_.steps) {
    EXPECT_EQ(step.kind, StepKind::decode);
    EXPECT_EQ(step.layers, kLayers);
  }
  EXPECT_EQ(said_of_steps(), 24U);
}

// One pass is the instance itself, not its "step 0".
TEST_F(StepsOfStagesTest, AnAnnotatedPrefillOfOnePassGetsNone) {
  for (int i = 0; i < 3; ++i) request(8);
  find();
  EXPECT_EQ(steps_of("prefill"), (std::vector<uint32_t>{0, 0, 0}));
}

// A prompt in four pieces, as engines split long ones.
TEST_F(StepsOfStagesTest, AnAnnotatedPrefillOfSeveralPassesGetsThem) {
  for (int i = 0; i < 3; ++i) {
    within("LLM@prefill", [&] {
      for (int piece = 0; piece < 4; ++piece) pass(100);
    });
    within("LLM@decode_all", [&] {
      for (int step = 0; step < 8; ++step) pass(1);
    });
  }
  find();
  EXPECT_EQ(steps_of("prefill"), (std::vector<uint32_t>{4, 4, 4}));
  EXPECT_EQ(steps_of("decode"), (std::vector<uint32_t>{8, 8, 8}));
  EXPECT_TRUE(std::all_of(stages_.steps.begin(), stages_.steps.begin() + 4,
                          [](const Step& step) { return step.kind == StepKind::prefill; }));
}

// The program's annotations stay; only instances without steps are examined.
TEST_F(StepsOfStagesTest, APrefillBesideAnnotatedStepsGetsItsPasses) {
  for (int i = 0; i < 3; ++i) {
    within("LLM@prefill", [&] {
      for (int piece = 0; piece < 4; ++piece) pass(100);
    });
    within("LLM@decode_all", [&] {
      for (int step = 0; step < 4; ++step) {
        within("LLM@decode_step", [&] {
          pass(1);
          pass(1);
        });
      }
    });
  }
  find();
  EXPECT_EQ(steps_of("prefill"), (std::vector<uint32_t>{4, 4, 4}));
  EXPECT_EQ(steps_of("decode"), (std::vector<uint32_t>{4, 4, 4}));
  EXPECT_EQ(said_of_steps(), 12U);
}

// A read of a result belongs to the step that it reads.
TEST_F(StepsOfStagesTest, CopiesBelongToTheStepBeforeThem) {
  for (int i = 0; i < 3; ++i) request(4);
  find();
  ASSERT_EQ(stages_.steps.size(), 12U);
  const WorkOwners& owners = stages_.owners;
  for (size_t copy = 0; copy < owners.memory_step.size(); ++copy) {
    const size_t pass_of_request = copy % 5;
    if (pass_of_request == 0) {
      EXPECT_FALSE(owners.memory_step[copy].valid()) << copy;
    } else {
      EXPECT_EQ(owners.memory_step[copy].value, copy / 5 * 4 + pass_of_request - 1) << copy;
    }
  }
}

// Passes that are not most of an instance do not explain it.
TEST_F(StepsOfStagesTest, WhatDoesNotRepeatGetsNone) {
  uint32_t random = 7;
  for (int i = 0; i < 3; ++i) {
    within("LLM@prefill", [&] { pass(100); });
    within("LLM@decode_all", [&] {
      for (int kernels = 0; kernels < 500; ++kernels) {
        random = random * 1664525U + 1013904223U;
        kernel(std::string(1, static_cast<char>('a' + (random >> 28U))), 1 + (random >> 20U) % 5);
      }
    });
  }
  find();
  EXPECT_TRUE(stages_.steps.empty());
  EXPECT_FALSE(said_of_steps());
}

}  // namespace
}  // namespace llmprof::analysis
