#include <gtest/gtest.h>

#include "compare/changes/changes.h"
#include "compare/gate/gate.h"
#include "compare/quantities/quantities.h"

namespace llmprof::compare {
namespace {

TEST(Rule, NamesStageQuantityStatisticAndLimits) {
  const auto step = parse_rule("decode.step.p50<=+2%", "here");
  ASSERT_TRUE(step) << step.error().message;
  EXPECT_EQ(step->stage, "decode");
  EXPECT_EQ(to_string(step->quantity), "step");
  EXPECT_EQ(step->statistic, Statistic::p50);
  EXPECT_TRUE(step->at_most);
  EXPECT_DOUBLE_EQ(*step->relative, 0.02);
  EXPECT_FALSE(step->absolute);
  const auto wall = parse_rule(" prefill.wall.mean <= +5% & +200us ", "here");
  ASSERT_TRUE(wall) << wall.error().message;
  EXPECT_DOUBLE_EQ(*wall->relative, 0.05);
  EXPECT_DOUBLE_EQ(*wall->absolute, 0.2);
  const auto gemm = parse_rule("class.gemm.ms<=+1%", "here");
  ASSERT_TRUE(gemm) << gemm.error().message;
  EXPECT_FALSE(gemm->stage);
  EXPECT_EQ(to_string(gemm->quantity), "class.gemm");
  EXPECT_EQ(gemm->statistic, Statistic::mean);
  const auto of_stage = parse_rule("decode.class.moe_routing.ms<=+1%", "here");
  ASSERT_TRUE(of_stage) << of_stage.error().message;
  EXPECT_EQ(of_stage->stage, "decode");
  EXPECT_EQ(to_string(of_stage->quantity), "class.moe routing");
  const auto ttft = parse_rule("requests.ttft.p99<=+5%", "here");
  ASSERT_TRUE(ttft) << ttft.error().message;
  EXPECT_EQ(ttft->stage, "requests");
  EXPECT_EQ(to_string(ttft->quantity), "ttft");
  EXPECT_EQ(ttft->statistic, Statistic::p99);
  const auto queue = parse_rule("requests.part.others_prefill<=+2ms", "here");
  ASSERT_TRUE(queue) << queue.error().message;
  EXPECT_EQ(to_string(queue->quantity), "part.others_prefill");
  EXPECT_EQ(queue->statistic, Statistic::mean);
  const auto speed = parse_rule("decode.tokens_per_s>=-3%", "here");
  ASSERT_TRUE(speed) << speed.error().message;
  EXPECT_FALSE(speed->at_most);
  EXPECT_DOUBLE_EQ(*speed->relative, -0.03);
  const auto peak = parse_rule("memory.peak<=+1% & +200MiB", "here");
  ASSERT_TRUE(peak) << peak.error().message;
  EXPECT_FALSE(peak->stage);
  EXPECT_EQ(to_string(peak->quantity), "memory.peak");
  EXPECT_DOUBLE_EQ(*peak->relative, 0.01);
  EXPECT_DOUBLE_EQ(*peak->absolute, 200.0 * 1024 * 1024);
  const auto rest = parse_rule("memory.rest<=+1.5GB", "here");
  ASSERT_TRUE(rest) << rest.error().message;
  EXPECT_EQ(rest->quantity, memory_of(profile::LedgerPart::rest));
  EXPECT_DOUBLE_EQ(*rest->absolute, 1.5e9);
}

TEST(Rule, RefusesWhatItDoesNotUnderstand) {
  for (const char* text : {"",
                           "decode.step.p50",
                           "decode.step.p51<=+2%",
                           "decode.stp.p50<=+2%",
                           "decode<=+2%",
                           "decode.step.p50<=2%",
                           "decode.step.p50<=+2",
                           "decode.step.p50<=+x%",
                           "decode.step.p50<=+2%&+3%",
                           "decode.step.p50<=+nan%",
                           "decode.step.p50<=+inf%",
                           "decode.step.p50<=-infinityms",
                           "decode.step.p50<=+1e999%",
                           "decode.step.p50<=+2kg",
                           "class.gemm.kg<=+1%",
                           "decode.ttft.p99<=+5%",
                           "requests.step.p50<=+5%",
                           "ttft.p99<=+5%",
                           "requests.part.lunch<=+5%",
                           "requests.part<=+5%",
                           "requests.ttft.p98<=+5%",
                           "memory<=+5%",
                           "memory.peaks<=+5%",
                           "memory.peak.p50<=+5%",
                           "memory.peak<=+5ms",
                           "memory.peak<=+5Mb",
                           "memory.peak<=+5MiB&+1GB",
                           "decode.memory.peak<=+5%",
                           "decode.step.p50<=+5MiB"}) {
    const auto rule = parse_rule(text, "here");
    ASSERT_FALSE(rule) << text;
    EXPECT_EQ(rule.error().kind, ErrorKind::usage) << text;
  }
}

Comparison with_interval(double difference, double half) {
  Comparison comparison;
  comparison.base = 10;
  comparison.difference = difference;
  comparison.low = difference - half;
  comparison.high = difference + half;
  comparison.base_runs = comparison.now_runs = 1;
  judge(0.01, comparison);
  return comparison;
}

TEST(Judge, GivesThreeAnswers) {
  EXPECT_EQ(with_interval(0.5, 0.1).answer, Answer::changed);
  EXPECT_EQ(with_interval(0.5, 0.1).direction, Direction::worse);
  EXPECT_EQ(with_interval(-0.5, 0.1).direction, Direction::better);
  EXPECT_EQ(with_interval(0.02, 0.05).answer, Answer::unchanged);
  EXPECT_TRUE(with_interval(0.05, 0.01).differs);
  EXPECT_EQ(with_interval(0.05, 0.01).answer, Answer::unchanged);
  const Comparison unknown = with_interval(0.2, 0.3);
  EXPECT_EQ(unknown.answer, Answer::cannot_tell);
  // Half-width 3 %, threshold 1 %: 1 % + 3 % x (1 + 0.8416 / 1.96).
  EXPECT_NEAR(unknown.smallest_seen->value, 0.05288, 1e-5);
  // 2 % is 1 % beyond the threshold: noise must shrink to a third, in nine runs.
  EXPECT_EQ(unknown.runs_needed, 9U);
}

TEST(Judge, NothingThatStaysNothingIsUnchanged) {
  Comparison comparison;
  comparison.base = comparison.difference = comparison.low = comparison.high = 0;
  judge(0.01, comparison);
  EXPECT_EQ(comparison.answer, Answer::unchanged);
  comparison.difference = comparison.low = comparison.high = 1;
  judge(0.01, comparison);
  EXPECT_EQ(comparison.answer, Answer::cannot_tell);
}

TEST(Apportion, SumsToTheWholeRoundedOnce) {
  const std::vector<int64_t> shares = apportion({10, 10, 10, 1}, 3);
  EXPECT_EQ(shares, (std::vector<int64_t>{3, 4, 3, 0}));
  const std::vector<int64_t> many = apportion(std::vector<int64_t>(1000, 1), 7);
  int64_t sum = 0;
  for (const int64_t share : many) sum += share;
  EXPECT_EQ(sum, 143);
}

TEST(Judge, AnIntervalEndsWhereNothingIsLeft) {
  Comparison comparison;
  comparison.base = 10;
  comparison.difference = -9;
  comparison.low = -11.5;
  comparison.high = -6.5;
  judge(0.01, comparison);
  EXPECT_DOUBLE_EQ(comparison.relative_low->value, -1);
  EXPECT_DOUBLE_EQ(*comparison.low, -10);
  EXPECT_DOUBLE_EQ(comparison.relative_high->value, -0.65);
  EXPECT_EQ(comparison.answer, Answer::changed);
  // The noise is unchanged.
  EXPECT_NEAR(comparison.smallest_seen->value, 0.01 + 0.25 * (1 + 0.8416 / 1.96), 1e-12);
}

}  // namespace
}  // namespace llmprof::compare
