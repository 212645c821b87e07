#include "report/stakeholder_summary.h"

#include <gtest/gtest.h>

#include "report/markdown.h"
#include "report/sample_profile_test.h"

namespace llmprof {
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
}  // namespace llmprof
