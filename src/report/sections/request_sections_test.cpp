#include <gtest/gtest.h>

#include "report/documents/documents.h"
#include "report/sections/sections.h"
#include "report/writers/writers.h"
#include "testing/sample_profile.h"
#include "testing/shown.h"

namespace llmprof::report {
namespace {

using testing::shown;

std::string requests_section(const profile::Profile& profile) {
  Document document;
  add_section(Topic<"requests">(), profile, document);
  return to_markdown(document);
}

bool in_report(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(RequestsSection, HasTheUnrecordedLoadFirstAndWhatRecordingAdded) {
  const std::string text = requests_section(shown(testing::requests_sample()));
  const size_t alone = text.find("| time to first token | unrecorded | 3 | 2.833 | 2.500 |");
  const size_t recorded = text.find("| time to first token | recorded | 2 | 3.450 | 2.200 |");
  ASSERT_NE(alone, std::string::npos) << text;
  ASSERT_NE(recorded, std::string::npos) << text;
  EXPECT_LT(alone, recorded);
  EXPECT_TRUE(in_report(text, "| time to first token | -12.00 % | +17.50 % |")) << text;
  EXPECT_TRUE(in_report(text, "| completed | 11.25 | 11.25 | requests per second |")) << text;
  EXPECT_TRUE(in_report(text, "7.25 (confidence interval 5.75 to 8.75)")) << text;
}

TEST(RequestsSection, OfARecordedLoadAloneHasNoColumnOfLoads) {
  profile::Profile sample = testing::requests_sample();
  sample.requests->unrecorded.reset();
  const std::string text = requests_section(shown(std::move(sample)));
  EXPECT_TRUE(in_report(text, "| time to first token | 2 | 3.450 |")) << text;
  EXPECT_FALSE(in_report(text, "unrecorded")) << text;
}

TEST(RequestsSection, ExplainsTheTailAndWhoDelayedWhom) {
  const std::string text = requests_section(shown(testing::requests_sample()));
  EXPECT_TRUE(
      in_report(text,
                "Largest cause of slow tokens: prefill of others (2.000 ms more) and host (0.400 "
                "ms more) in inter-token latency of 3.4000 ms and more (1 token); request late "
                "delays them most."))
      << text;
  EXPECT_TRUE(in_report(text, "| prefill of others | 2.000 | 0.000 | +2.0000 |")) << text;
  EXPECT_TRUE(in_report(text, "| late | 2.000 | 0.500 | 1 | 1 |")) << text;
  EXPECT_TRUE(in_report(text, "| early | late | 2.000 | 0.500 | 1 |")) << text;
  EXPECT_TRUE(
      in_report(text,
                "| early | chunk 1 | 3.400 | 2.200 | prefill of others 2.000 ms, host 1.200 ms, "
                "delivery 0.200 ms | 1 | late |"))
      << text;
  EXPECT_TRUE(in_report(text, "| own decode | 4.000 | 36.5 % |")) << text;
}

TEST(RequestsSection, SaysWhyThereAreNoCauses) {
  profile::Profile sample = testing::requests_sample();
  profile::Requests& requests = *sample.requests;
  requests.join = {};
  requests.join.state = profile::JoinState::no_clock;
  requests.tail.clear();
  requests.parts.clear();
  requests.delayers.clear();
  const std::string text = requests_section(shown(std::move(sample)));
  EXPECT_TRUE(in_report(text, "What requests waited for is unknown: the file of requests has no"))
      << text;
  EXPECT_TRUE(in_report(text, "Causes are not available: the file of requests has no absolute"))
      << text;
  EXPECT_FALSE(in_report(text, "Who delayed whom")) << text;
}

TEST(RequestsSection, TellsServersHowToGetRequestsAndIsSilentOtherwise) {
  EXPECT_TRUE(in_report(requests_section(shown(testing::serving_sample())), "`llmprof load URL`"));
  EXPECT_EQ(requests_section(shown(testing::full_sample())), "");
}

TEST(RequestsSection, WarnsOfALoadThatTheServerCouldNotHold) {
  profile::Profile sample = testing::requests_sample();
  EXPECT_EQ(load_sentence(sample), "");
  sample.requests->unrecorded->load.verdict = profile::LoadVerdict::over_saturated;
  EXPECT_TRUE(in_report(load_sentence(sample), "over-saturated")) << load_sentence(sample);
  EXPECT_TRUE(in_report(requests_section(shown(sample)), "Verdict: over-saturated"))
      << load_sentence(sample);
}

TEST(RequestHeadlines, AreOfTheUnrecordedLoad) {
  const auto lines = headlines(shown(testing::requests_sample()));
  ASSERT_GE(lines.size(), 4U);
  EXPECT_EQ(lines[0].name, "time to first token");
  EXPECT_EQ(lines[0].text, "2.500");
  EXPECT_EQ(lines[0].of, "median of 3 requests, by the client, without a recorder");
  EXPECT_EQ(lines[0].beside->text, "4.000 ms");
  EXPECT_EQ(lines[1].name, "inter-token latency");
  EXPECT_EQ(lines[1].text, "3.0000");
  EXPECT_EQ(lines[2].text, "318.5");
  EXPECT_EQ(lines[3].name, "goodput");
  EXPECT_EQ(lines[3].text, "7.25");
}

TEST(RequestHeadlines, OfARecordedLoadSaySo) {
  profile::Profile sample = testing::requests_sample();
  sample.requests->unrecorded.reset();
  const auto lines = headlines(shown(std::move(sample)));
  EXPECT_EQ(lines[0].text, "2.200");
  EXPECT_EQ(lines[0].of, "median of 2 requests, by the client, while recording");
}

TEST(RequestSummary, BeginsWithWhatTheClientSaw) {
  const auto sentences = texts_of(executive_summary(shown(testing::requests_sample())));
  EXPECT_EQ(sentences.at(0),
            "The client's median time to first token is 2.500 ms (p99 4.000 ms) and inter-token "
            "latency is 3.0000 ms (p99 3.2000 ms) over 3 completed requests, without a recorder; "
            "goodput is 7.25 requests per second.");
  EXPECT_TRUE(sentences.at(1).starts_with("Largest cause of slow tokens: prefill of others"));
  EXPECT_LE(sentences.size(), 5U);
}

TEST(RequestSummary, IsInTheTerminalsOverview) {
  const std::string text = to_markdown(kernel_overview(shown(testing::requests_sample()), 5));
  EXPECT_TRUE(in_report(text, "The client's median time to first token is 2.500 ms")) << text;
  EXPECT_TRUE(in_report(text, "Largest cause of slow tokens")) << text;
}

// They are what `llmprof load` shows.
TEST(RequestSummary, OfRequestsAloneSpeaksOfNothingElse) {
  profile::Profile alone;
  alone.context.captures.emplace_back().format = profile::CaptureFormat::requests;
  alone.requests = testing::requests_sample().requests;
  alone.requests->tail.clear();
  alone.requests->join.state = profile::JoinState::no_steps;
  const std::string text = to_markdown(kernel_overview(shown(alone), 5));
  EXPECT_FALSE(in_report(text, "kernels")) << text;
  EXPECT_TRUE(in_report(text,
                        "What requests waited for is unknown: no capture of the server was "
                        "analyzed; record it while requests are sent"))
      << text;
}

}  // namespace
}  // namespace llmprof::report
