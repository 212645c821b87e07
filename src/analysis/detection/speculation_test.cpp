#include "analysis/detection/pass_kind.h"

#include <gtest/gtest.h>

namespace llmprof::analysis {
namespace {

constexpr uint32_t kDraft = 4;
constexpr uint32_t kVerify = 16;

void add_steps(std::vector<Step>& steps, uint32_t layers, Nanoseconds time,
               StepKind kind = StepKind::decode) {
  Step step;
  step.kind = kind;
  step.layers = layers;
  step.work.kernel_sum = time;
  steps.push_back(step);
}

// Prefills of both models, then turns of `drafts` draft passes and a verify pass.
std::vector<Step> turns(uint32_t count, uint32_t drafts) {
  std::vector<Step> steps;
  add_steps(steps, kVerify, 900, StepKind::prefill);
  add_steps(steps, kDraft, 300, StepKind::prefill);
  for (uint32_t turn = 0; turn < count; ++turn) {
    for (uint32_t i = 0; i < drafts; ++i) add_steps(steps, kDraft, 10);
    add_steps(steps, kVerify, 70);
  }
  return steps;
}

TEST(SpeculationTest, CountsPassesOfEachModelWithoutPrefills) {
  const auto found = find_speculation(turns(5, 3));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->draft_layers, kDraft);
  EXPECT_EQ(found->verify_layers, kVerify);
  EXPECT_EQ(found->drafts, 15U);
  EXPECT_EQ(found->verifications, 5U);
  EXPECT_EQ(found->draft_time, 150);
  EXPECT_EQ(found->verify_time, 350);
}

std::vector<ForwardPass> passes_of(const std::vector<uint32_t>& layers,
                                   const std::vector<StepKind>& kinds) {
  std::vector<ForwardPass> passes(layers.size());
  for (size_t i = 0; i < passes.size(); ++i) {
    passes[i].layers = layers[i];
    passes[i].kind = kinds[i];
  }
  return passes;
}

constexpr StepKind kTakesPrompt = StepKind::prefill;
constexpr StepKind kTakesToken = StepKind::decode;

TEST(SpeculationTest, APromptIsTakenByBothModelsBeforeTheFirstToken) {
  const ModelTurns models{kDraft, kVerify, 2};
  const std::vector<uint32_t> layers = {kDraft, kDraft, kVerify, kDraft, kDraft, kVerify};
  const std::vector<StepKind> kinds = {kTakesPrompt, kTakesToken, kTakesPrompt,
                                       kTakesToken,  kTakesToken, kTakesToken};
  EXPECT_EQ(in_prefill_before(passes_of(layers, kinds), models),
            (std::vector<bool>{false, true, true, false, false, false}));
}

TEST(SpeculationTest, ADraftModelMayTakeThePromptAfterTheOther) {
  const ModelTurns models{kDraft, kVerify, 2};
  const std::vector<uint32_t> layers = {kVerify, kDraft, kDraft, kVerify, kVerify};
  const std::vector<StepKind> kinds = {kTakesPrompt, kTakesPrompt, kTakesToken, kTakesToken,
                                       kTakesPrompt};
  EXPECT_EQ(in_prefill_before(passes_of(layers, kinds), models),
            (std::vector<bool>{false, true, false, false, false}));
}

// The capture ends before the larger model has taken the prompt.
TEST(SpeculationTest, APromptThatIsNotVerifiedIsOfTheDraftModelAlone) {
  const std::vector<uint32_t> layers = {kDraft, kDraft, kDraft};
  const std::vector<StepKind> kinds = {kTakesPrompt, kTakesToken, kTakesToken};
  EXPECT_EQ(in_prefill_before(passes_of(layers, kinds), {kDraft, kVerify, 2}),
            (std::vector<bool>{false, false, false}));
}

TEST(SpeculationTest, TheLongestTurnIsCounted) {
  const std::vector<uint32_t> layers = {kDraft,  kDraft, kDraft, kVerify, kDraft,
                                        kVerify, kDraft, kDraft, kVerify};
  const auto found = find_turns(layers);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->most_drafts, 3U);
}

// The last token of a request needs no draft.
TEST(SpeculationTest, AVerifyPassMayFollowAnother) {
  std::vector<Step> steps = turns(4, 2);
  add_steps(steps, kVerify, 70);
  const auto found = find_speculation(steps);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->drafts, 8U);
  EXPECT_EQ(found->verifications, 5U);
}

TEST(SpeculationTest, TwoModelsOneAfterTheOtherDoNotSpeculate) {
  std::vector<Step> steps;
  for (int i = 0; i < 20; ++i) add_steps(steps, kDraft, 10);
  for (int i = 0; i < 20; ++i) add_steps(steps, kVerify, 70);
  EXPECT_FALSE(find_speculation(steps));
}

// Alternating requests of two models: each has many steps of its own.
TEST(SpeculationTest, RequestsOfTwoModelsInTurnDoNotSpeculate) {
  std::vector<Step> steps;
  for (int request = 0; request < 6; ++request) {
    for (int i = 0; i < 10; ++i) add_steps(steps, request % 2 == 0 ? kDraft : kVerify, 10);
  }
  EXPECT_FALSE(find_speculation(steps));
}

TEST(SpeculationTest, OneModelOrThreeAreNone) {
  std::vector<Step> one;
  for (int i = 0; i < 20; ++i) add_steps(one, kVerify, 70);
  EXPECT_FALSE(find_speculation(one));
  std::vector<Step> three = turns(5, 3);
  add_steps(three, 32, 100);
  EXPECT_FALSE(find_speculation(three));
}

// Layers hidden in a graph replay do not identify a model.
TEST(SpeculationTest, HiddenPassesAreNoModel) {
  std::vector<Step> steps;
  for (int i = 0; i < 10; ++i) add_steps(steps, i % 2 == 0 ? 0 : kVerify, 10);
  EXPECT_FALSE(find_speculation(steps));
}

TEST(SpeculationTest, TwoTurnsAreTooFew) { EXPECT_FALSE(find_speculation(turns(2, 3))); }

}  // namespace
}  // namespace llmprof::analysis
