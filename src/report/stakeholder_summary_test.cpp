#include "report/stakeholder_summary.h"

#include <gtest/gtest.h>

#include "report/markdown.h"
#include "report/sample_profile_test.h"

namespace llmprof::report {
namespace {

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += text + "\n";
  return all;
}

TEST(ExecutiveSummary, AnswersFourQuestions) {
  const SampleProfile sample = full_sample();
  const auto sentences = executive_sentences(Reported(sample.profile));
  ASSERT_EQ(sentences.size(), 4U) << joined(sentences);
  EXPECT_EQ(
      sentences[0],
      "Unprofiled, prefill takes 5.500 ms, decode 7.200 ms (1111.2 tokens a second); under the "
      "profiler, a request takes 15.000 ms on one NVIDIA H200: the first token comes after 6.000 "
      "ms, each further one after 2.250 ms (444.4 tokens a second for each sequence).");
  EXPECT_EQ(
      sentences[1],
      "Most of the time is decode (60.0 % of the stages' wall time); there the GPU is busy "
      "55.6 % of the time, and the largest part is matrix products (44.4 % of its wall time).");
  EXPECT_EQ(sentences[3],
            "Fix first: decode is launch-bound; that can bring 3.500 ms a request at the most "
            "(38.9 % of the wall time of decode).");
}

TEST(ExecutiveSummary, SaysWhatCannotBeKnown) {
  const SampleProfile profiler = profiler_sample();
  const std::string without_stages = joined(executive_sentences(Reported(profiler.profile)));
  EXPECT_NE(without_stages.find("Prefill and decode cannot be told apart: a kernel profiler"),
            std::string::npos)
      << without_stages;
  const SampleProfile serving = serving_sample();
  const std::string without_model = joined(executive_sentences(Reported(serving.profile)));
  EXPECT_NE(without_model.find("is not known: no model was named"), std::string::npos)
      << without_model;
  EXPECT_NE(without_model.find("only 74.1 % of the kernel time"), std::string::npos)
      << without_model;
}

// Idle parts together are more than the longest work: 3.5 and 1 ms of 9 against 4 ms of gemm.
TEST(ExecutiveSummary, NamesIdleTimeWhereItIsTheLargestPart) {
  SampleProfile sample = full_sample();
  analysis::PartTimes& total = sample.profile.budgets.stages[1].total;
  total[static_cast<size_t>(analysis::BudgetPart::unattributed)] = 0;
  total[static_cast<size_t>(analysis::KernelClass::attention)] = 0;
  total[static_cast<size_t>(analysis::BudgetPart::idle_host)] = 3000000;
  const Reported reported(sample.profile);
  EXPECT_EQ(executive_sentences(reported)[1],
            "Most of the time is decode (60.0 % of the stages' wall time); there the GPU waits for "
            "the host: it is idle 55.6 % of wall time, mostly for late launches by the CPU (38.9 % "
            "of wall time).");
  EXPECT_NE(heuristic_msgs(reported)[1].message.find(
                "Of the GPU's own work the largest part is matrix products (44.4 % of wall)"),
            std::string::npos);
}

TEST(ExecutiveSummary, SaysNothingOfALimitWhoseFigureWasRefused) {
  SampleProfile sample = full_sample();
  analysis::StageUtilization& decode = sample.profile.utilization.stages[1];
  decode.mfu_busy.reset();
  decode.why_not = "MFU on busy time would be 150 %";
  const std::string text = joined(executive_sentences(Reported(sample.profile)));
  EXPECT_EQ(text.find("memory bandwidth"), std::string::npos) << text;
  EXPECT_EQ(text.find("at that limit"), std::string::npos) << text;
  const std::string summary = to_markdown(stakeholder_document(sample.profile));
  EXPECT_NE(summary.find("decode: not available because MFU on busy time would be 150 %."),
            std::string::npos);
}

TEST(ExecutiveSummary, GivesTheRangeWhereAMeanSaysLittle) {
  SampleProfile sample = full_sample();
  analysis::Stages& stages = sample.profile.stages;
  stages.stages[0].wall = analysis::summarise({2000000, 10000000});
  stages.time_to_first_token = stages.stages[0].wall;
  sample.trace->workload.reset();
  EXPECT_EQ(executive_sentences(Reported(sample.profile))[0],
            "Measured under the profiler, the first token comes after 2.000 to 10.000 ms (2 "
            "prefills), each further one after 2.250 ms (444.4 tokens a second for each sequence) "
            "on one NVIDIA H200.");
}

TEST(ExecutiveSummary, CountsAKernelOnAllItsGpus) {
  SampleProfile sample = profiler_sample();
  analysis::KernelRanking& ranking = sample.profile.ranking;
  ranking.rows.push_back(ranking.rows[1]);  // 4.5 ms of 27 on another GPU: 9 in all
  ranking.rows.back().device = "cuda:1";
  const Facts facts = Reported(sample.profile).facts;
  ASSERT_EQ(facts.top_names.size(), 2U);
  EXPECT_EQ(facts.top_names[1].devices, "cuda:0, cuda:1");
  EXPECT_EQ(facts.top_names[1].total, 9000000);
  EXPECT_EQ(facts.top_names[1].calls, 30U);
}

TEST(StageTakeaways, DoNotContradictThemselves) {
  SampleProfile sample = full_sample();
  sample.profile.utilization.stages[1].mbu_wall = 0.9;
  const std::string decode = heuristic_msgs(Reported(sample.profile))[1].message;
  EXPECT_EQ(decode.find("close to the limit"), std::string::npos) << decode;
  EXPECT_NE(decode.find("does not fit its idle time"), std::string::npos) << decode;
}

TEST(analysis::Selection, IsSaidInWords) {
  SampleProfile sample = full_sample();
  EXPECT_EQ(selection_words(sample.profile), "");
  EXPECT_EQ(instance_words(sample.profile), "a request");
  sample.profile.selection.steps = {4, 12};
  EXPECT_EQ(selection_words(sample.profile), "Only steps 4 to 11 of each instance (--steps 4:12).");
  sample.profile.selection.device = 1;
  sample.profile.selection.stage = "decode";
  EXPECT_EQ(selection_words(sample.profile),
            "Only steps 4 to 11 of each instance on GPU 1 (--steps 4:12 --stage decode --device "
            "1).");
  EXPECT_FALSE(Reported(sample.profile).facts.request.has_value());
}

TEST(StageTakeaways, FollowTheirRules) {
  const SampleProfile sample = full_sample();
  const auto takeaways = heuristic_msgs(Reported(sample.profile));
  ASSERT_EQ(takeaways.size(), 2U);
  EXPECT_EQ(takeaways[0].stage, "prefill");
  EXPECT_TRUE(takeaways[0].message.starts_with("Some time is lost waiting"));
  EXPECT_NE(takeaways[0].message.find("vision_tower takes 0.750 ms"), std::string::npos);
  EXPECT_TRUE(takeaways[1].message.starts_with("The host sets the pace"));
  EXPECT_NE(takeaways[1].message.find("bound by memory bandwidth and reaches 29.2 %"),
            std::string::npos);
}

TEST(Stage1Metrics, StandBesideTheCapture) {
  const SampleProfile sample = full_sample();
  bool found = false;
  for (const AggregateRow& row : map_stage1_metrics_to_stats(Reported(sample.profile))) {
    if (row.metric != "decode (ms)") continue;
    found = true;
    EXPECT_EQ(row.stage1, "7.200");
    EXPECT_EQ(row.captured, "9.000");
    EXPECT_EQ(row.captured_over_stage1, "1.25");
  }
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace llmprof::report
