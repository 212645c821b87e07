#include "report/documents/documents.h"

#include <gtest/gtest.h>

#include "report/format/figures.h"
#include "report/writers/writers.h"
#include "testing/sample_profile.h"
#include "testing/shown.h"

namespace llmprof::report {
namespace {

using testing::shown;

using profile::Milliseconds;
using profile::Share;
using testing::full_sample;
using testing::profiler_sample;
using testing::serving_sample;

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += text + "\n";
  return all;
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(ExecutiveSummary, AnswersFourQuestions) {
  const auto sentences = texts_of(executive_summary(shown(full_sample())));
  ASSERT_EQ(sentences.size(), 4U) << joined(sentences);
  EXPECT_EQ(sentences[0],
            "Unprofiled, prefill takes 5.500 ms, decode 7.200 ms (1111.2 tokens per second); under "
            "the profiler, a request takes 15.000 ms on one NVIDIA H200: time to first token is "
            "6.000 ms, each later token takes 2.250 ms (444.4 tokens per second per "
            "sequence).");
  EXPECT_EQ(sentences[1],
            "Most time is spent in decode (60.0 % of all stages' wall time); "
            "there the GPU is busy 55.6 % of wall time, and the largest part of it is matrix "
            "products (44.4 % of wall time).");
  EXPECT_EQ(
      sentences[2],
      "Compared with the hardware limit, prefill uses 43.1 % of the GPU's compute peak, decode "
      "uses 29.2 % of the GPU's peak memory bandwidth; at that limit decode would take 2.625 "
      "ms instead of 9.000 ms.");
  EXPECT_EQ(sentences[3],
            "Fix first: decode is launch-bound; potential saving up to 3.500 ms per request (38.9 "
            "% of decode's wall time).");
}

TEST(ExecutiveSummary, SaysWhatCannotBeKnown) {
  const std::string without_stages = joined(texts_of(executive_summary(shown(profiler_sample()))));
  EXPECT_TRUE(has(without_stages, "Cannot separate prefill from decode: ncu measures launches one"))
      << without_stages;
  EXPECT_TRUE(has(without_stages,
                  "Of the kernel time, 0.0 % is bound by memory, 83.3 % by compute and 0.0 % by "
                  "latency (the bound of 16.7 % is unknown)."))
      << without_stages;
  const std::string without_model = joined(texts_of(executive_summary(shown(serving_sample()))));
  EXPECT_TRUE(has(without_model, "is unknown: no model was named")) << without_model;
  EXPECT_TRUE(
      has(without_model,
          "Caveat: stages are guessed from the kernel sequence (confidence high, 97 %), and only "
          "74.1 % of the kernel time"))
      << without_model;
}

TEST(ExecutiveSummary, DoesNotMentionABoundThatIsKnownOfAllKernels) {
  profile::Profile sample = profiler_sample();
  sample.roofline.share_of_kernel_time = profile::BoundShares{{0.25}, {0.75}, {0}, {0.0004}};
  EXPECT_TRUE(has(joined(texts_of(executive_summary(shown(sample)))),
                  "by compute and 0.0 % by latency.\n"));
}

TEST(ExecutiveSummary, HasNoCaveatWhereStagesSpeakForTheCapture) {
  profile::Profile sample = serving_sample();
  sample.coverage->representative = true;
  EXPECT_TRUE(
      has(joined(texts_of(executive_summary(shown(sample)))), "(confidence high, 97 %).\n"));
  sample.stages_found.confidence.reset();
  EXPECT_FALSE(has(joined(texts_of(executive_summary(shown(sample)))), "Caveat"));
}

TEST(ExecutiveSummary, SaysThatGraphsHideTheirKernels) {
  profile::Profile sample = full_sample();
  sample.totals.hidden_graphs = profile::HiddenGraphs{4, {9}, {0.25}, std::nullopt};
  EXPECT_TRUE(
      has(joined(texts_of(executive_summary(shown(sample)))),
          "Caveat: 25.0 % of the GPU time is not visible, in CUDA graphs whose kernels were "
          "not recorded; record again with --cuda-graph-trace=node."));
  const std::string summary = to_markdown(stakeholder_document(shown(sample)));
  EXPECT_LT(summary.find("25.0 % of the GPU time is in CUDA graphs"),
            summary.find("decode is launch-bound | record"));
}

// Idle parts add up to more than the longest work: 3.5 and 1.5 ms of 9, against 4 ms of gemm.
TEST(ExecutiveSummary, NamesIdleTimeWhereItIsTheLargestPart) {
  profile::Profile sample = full_sample();
  profile::Stage& decode = sample.stages[1];
  testing::set_budget(
      decode,
      {{"gemm", 8}, {"idle: launch-bound", 7, true}, {"idle: host between launches", 3, true}});
  EXPECT_EQ(texts_of(executive_summary(shown(sample)))[1],
            "Most time is spent in decode (60.0 % of all stages' wall time); "
            "there the GPU waits for the host: it is idle 55.6 % of wall time, mostly due to "
            "late kernel launches (38.9 % of wall time).");
  EXPECT_TRUE(
      has(heuristic_msgs(shown(sample))[1].message,
          "Of the GPU's own work, the largest part is matrix products (44.4 % of wall time)"));
  sample = shown(sample);
  sample.stages[1].judgement.waits_for_host = false;
  EXPECT_TRUE(has(texts_of(executive_summary(sample))[1], "there the GPU waits: it is idle"));
}

TEST(ExecutiveSummary, SpeaksOfOperatorsOnACpu) {
  profile::Profile sample = full_sample();
  sample.context.device_kind = profile::DeviceKind::cpu;
  profile::Stage& decode = sample.stages[1];
  testing::set_budget(decode, {{"gemm", 8}, {"between operators", 10, true}});
  EXPECT_TRUE(has(texts_of(executive_summary(shown(sample)))[1],
                  "there 55.6 % of wall time is outside recorded operators, mostly code between "
                  "operators (55.6 % of wall time)"));
  EXPECT_TRUE(has(texts_of(executive_summary(shown(sample)))[2],
                  "decode uses 29.2 % of the CPU's measured memory bandwidth"));
  EXPECT_TRUE(heuristic_msgs(shown(sample))[1].message.starts_with(
      "55.6 % of wall time is outside recorded operators"));
}

TEST(ExecutiveSummary, SaysNothingOfALimitWhoseFigureWasRefused) {
  profile::Profile sample = full_sample();
  sample.stages[1].mfu.gpu_busy.reset();
  sample.stages[1].why_not = "MFU on busy time would be 150 %";
  const std::string text = joined(texts_of(executive_summary(shown(sample))));
  EXPECT_FALSE(has(text, "memory bandwidth")) << text;
  EXPECT_FALSE(has(text, "at that limit")) << text;
  EXPECT_TRUE(has(to_markdown(stakeholder_document(shown(sample))),
                  "decode: not available because MFU on busy time would be 150 %."));
}

TEST(ExecutiveSummary, GivesTheRangeWhereAMeanSaysLittle) {
  profile::Profile sample = full_sample();
  sample.stages[0].wall = testing::times({2, 10});
  sample.token_times.time_to_first_token = sample.stages[0].wall;
  sample.stage1.reset();
  EXPECT_EQ(texts_of(executive_summary(shown(sample)))[0],
            "Measured under the profiler, time to first token is 2.000 to 10.000 ms (2 "
            "prefills), each later token takes 2.250 ms (444.4 tokens per second per sequence) on "
            "one NVIDIA H200.");
}

TEST(ExecutiveSummary, SpeaksOfWhatWasSelected) {
  profile::Profile sample = full_sample();
  sample.stage1.reset();
  sample.token_times.request.reset();
  sample.selection = profile::Selection{"decode", std::nullopt, std::nullopt, "Only decode."};
  EXPECT_EQ(texts_of(executive_summary(shown(sample)))[0],
            "Measured under the profiler, one decode takes 9.000 ms on one NVIDIA H200.");
  sample.selection->steps = profile::StepRange{4, 11};
  EXPECT_TRUE(has(texts_of(executive_summary(shown(sample)))[0],
                  "the selected steps of one decode take 9.000 ms"));
  EXPECT_TRUE(has(texts_of(executive_summary(shown(serving_sample())))[0],
                  "an engine step of decode takes 2.000"));
}

TEST(StakeholderSummary, NamesAKernelOnceWithAllItsGpus) {
  profile::Profile sample = profiler_sample();
  profile::KernelOnAllDevices& attention = sample.kernels_all_devices[1];
  attention.devices = "cuda:0, cuda:1";
  attention.total = {9};
  attention.calls = 30;
  EXPECT_TRUE(has(to_markdown(stakeholder_document(shown(sample))),
                  "| attention | 9.000000 | 16.7 % | 30 | 0.300000 | cuda:0, cuda:1 |"));
}

TEST(StakeholderSummary, SaysHowSureDetectionIs) {
  EXPECT_TRUE(
      has(to_markdown(stakeholder_document(shown(serving_sample()))),
          "detected in the kernel sequence, confidence high, 97 %: the kernel sequence repeats "
          "with 16 layers."));
}

TEST(StakeholderSummary, ShowsAFindingWithoutASavingAsSuch) {
  profile::Profile sample = full_sample();
  sample.findings[0].saving.reset();
  EXPECT_TRUE(has(to_markdown(stakeholder_document(shown(sample))),
                  "(torch.compile mode=reduce-overhead) | decode | - | 38.9 % |"));
}

TEST(StageTakeaways, DoNotContradictThemselves) {
  profile::Profile sample = full_sample();
  sample.stages[1].mbu.wall = Share{0.9};
  const std::string decode = heuristic_msgs(shown(sample))[1].message;
  EXPECT_FALSE(has(decode, "close to the hardware limit")) << decode;
  EXPECT_TRUE(has(decode,
                  "It would reach 90.0 % of the GPU's peak memory bandwidth on wall time, "
                  "which contradicts its idle time"))
      << decode;
}

TEST(StageTakeaways, FollowTheirRules) {
  profile::Profile sample = full_sample();
  const auto takeaways = heuristic_msgs(shown(sample));
  ASSERT_EQ(takeaways.size(), 2U);
  EXPECT_EQ(takeaways[0].stage, "prefill");
  EXPECT_TRUE(takeaways[0].message.starts_with("Some time is lost waiting"));
  EXPECT_TRUE(has(takeaways[0].message, "Inside it, vision_tower takes 0.750 ms"));
  EXPECT_TRUE(takeaways[1].message.starts_with("The GPU waits for the host"));
  EXPECT_TRUE(has(takeaways[1].message,
                  "bound by memory bandwidth and reaches 29.2 % of the GPU's peak on wall time: it "
                  "is far from"));
  sample = shown(sample);
  sample.stages[1].judgement = {profile::IdleLevel::little, false, false, profile::Limit::near};
  EXPECT_TRUE(heuristic_msgs(sample)[1].message.starts_with(
      "The GPU is busy nearly all the time: it is idle 38.9 % of wall time."));
  EXPECT_TRUE(has(heuristic_msgs(sample)[1].message, "close to the hardware limit"));
  sample.stages[1].judgement = {profile::IdleLevel::much, false, false, profile::Limit::room};
  EXPECT_TRUE(heuristic_msgs(sample)[1].message.starts_with("Much time is lost waiting"));
}

TEST(StageTakeaways, FallBackOnTheShareOfTime) {
  profile::Profile sample = serving_sample();
  sample.stages[1].budget.reset();
  sample.stages[1].idle_share_of_wall.reset();
  EXPECT_EQ(heuristic_msgs(shown(sample))[1].message, "Takes 75.0 % of all stages' wall time.");
}

TEST(UnprofiledMetrics, StandBesideTheCapture) {
  bool found = false;
  for (const AggregateRow& row : map_stage1_metrics_to_stats(shown(full_sample()))) {
    if (row.metric != "decode (ms)") continue;
    found = true;
    EXPECT_EQ(text_of(row.unprofiled), "7.200");
    EXPECT_EQ(text_of(row.captured), "9.000");
    EXPECT_EQ(text_of(row.captured_over_unprofiled), "1.250");
  }
  EXPECT_TRUE(found);
}

TEST(UnprofiledMetrics, LeaveOutATokenRateOfAnAssumedBatch) {
  const auto rates = [](const profile::Profile& profile) {
    std::vector<std::string> found;
    for (const AggregateRow& row : map_stage1_metrics_to_stats(shown(profile))) {
      if (row.metric == "tokens per second, whole batch") found.push_back(text_of(row.captured));
    }
    return found;
  };
  profile::Profile sample = full_sample();
  sample.stage1.reset();
  EXPECT_EQ(rates(sample), std::vector<std::string>{"888.9"});
  sample.workload.batch_source = "assumed";
  EXPECT_TRUE(rates(sample).empty());
}

}  // namespace
}  // namespace llmprof::report
