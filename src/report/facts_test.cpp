#include "report/facts.h"

#include <gtest/gtest.h>

#include "report/sample_profile_test.h"

namespace llmprof::report {
namespace {

// Of the sample's two requests that are no warm-up: prefills of 6 and 6 ms with 4.5 ms busy,
// decodes of 8 and 10 ms with 5 ms busy and four steps each.
TEST(Facts, LeaveWarmUpsOut) {
  const SampleProfile sample = full_sample();
  const Facts facts = derive_facts(sample.profile);
  ASSERT_EQ(facts.stages.size(), 2U);
  const StageFacts& decode = facts.stages[1];
  EXPECT_EQ(decode.instances, 3U);
  EXPECT_EQ(decode.warmups, 1U);
  EXPECT_EQ(decode.steps, 8U);
  EXPECT_EQ(decode.decode_steps, 8U);
  EXPECT_EQ(facts.stages[0].decode_steps, 0U);
  EXPECT_DOUBLE_EQ(decode.share_of_stage_time, 18.0 / 30);
  EXPECT_DOUBLE_EQ(*decode.busy_share, 10.0 / 18);
  EXPECT_DOUBLE_EQ(*facts.busy_share, 19.0 / 30);
  EXPECT_DOUBLE_EQ(*facts.request, 15e6);
  EXPECT_DOUBLE_EQ(*facts.tokens_per_s_per_sequence, 1e9 / 2.25e6);
  EXPECT_DOUBLE_EQ(*facts.tokens_per_s, 2 * 1e9 / 2.25e6);
  EXPECT_DOUBLE_EQ(*facts.time_in_stages, 26.0 / 27);
}

// Decode: gemm 4 + 4, attention 1 + 1, launch-bound 2.5 + 4.5, unattributed 0.5 + 0.5 ms.
TEST(Facts, RankTheParts) {
  const SampleProfile sample = full_sample();
  const StageFacts decode = derive_facts(sample.profile).stages[1];
  ASSERT_EQ(decode.budget.size(), 4U);
  EXPECT_EQ(analysis::budget_part_name(decode.budget[0].part), "gemm");
  EXPECT_EQ(decode.budget[1].part, static_cast<size_t>(analysis::BudgetPart::idle_launch));
  EXPECT_EQ(decode.budget[1].total, 7000000);
  EXPECT_DOUBLE_EQ(decode.budget[1].time, 3.5e6);
  EXPECT_DOUBLE_EQ(decode.budget[1].share, 7.0 / 18);
  EXPECT_DOUBLE_EQ(*decode.budget[1].per_step, 7e6 / 8);
  EXPECT_DOUBLE_EQ(*decode.wall_per_step, 18e6 / 8);
  EXPECT_DOUBLE_EQ(*decode.idle, 3.5e6);
  EXPECT_DOUBLE_EQ(*decode.idle_share, 7.0 / 18);
  EXPECT_DOUBLE_EQ(*decode.wall_over_floor, 9e6 / 2625000);
}

TEST(Facts, GiveTimePerTokenToWhatDecodes) {
  const SampleProfile sample = full_sample();
  const Facts facts = derive_facts(sample.profile);
  EXPECT_DOUBLE_EQ(*time_per_token(facts, sample.profile.opened[0].stages), 6e6 / 8);
  const auto& prefill_shape = sample.profile.opened[0].shapes[0].stages;
  EXPECT_FALSE(time_per_token(facts, prefill_shape).has_value());
  EXPECT_FALSE(time_per_token(facts, {}).has_value());
}

// One layer of 8 ms over 8 passes, 2.4 of it attention; 2 ms outside.
TEST(Facts, SumUpLayers) {
  const SampleProfile sample = full_sample();
  const Facts facts = derive_facts(sample.profile);
  ASSERT_EQ(facts.layers.size(), 1U);
  const LayerSummary& layers = facts.layers[0];
  EXPECT_EQ(layers.layers, 1U);
  EXPECT_DOUBLE_EQ(layers.mean, 1e6);
  ASSERT_EQ(layers.parts.size(), 3U);
  double all = 0;
  for (const auto& part : layers.parts) all += part.share;
  EXPECT_DOUBLE_EQ(all, 1);
  EXPECT_EQ(layers.parts[1].name, "attn");
  EXPECT_DOUBLE_EQ(layers.parts[1].time, 0.3e6);
}

TEST(Facts, PutStage1BesideTheCapture) {
  const SampleProfile sample = full_sample();
  const Facts facts = derive_facts(sample.profile);
  ASSERT_EQ(facts.stage1.size(), 2U);
  EXPECT_DOUBLE_EQ(*facts.stage1[1].captured_ms, 9);
  EXPECT_DOUBLE_EQ(*facts.stage1[1].captured_over_stage1, 9 / 7.2);
  EXPECT_DOUBLE_EQ(*facts.stage1[0].mfu, 0.4706);
}

TEST(Facts, AreMissingWithoutATimeline) {
  const SampleProfile sample = profiler_sample();
  const Facts facts = derive_facts(sample.profile);
  EXPECT_TRUE(facts.stages.empty());
  EXPECT_FALSE(facts.request.has_value());
  EXPECT_FALSE(facts.busy_share.has_value());
  EXPECT_FALSE(facts.time_in_stages.has_value());
}

}  // namespace
}  // namespace llmprof::report
