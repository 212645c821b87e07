#include "analysis/requests/stated_figures.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "testing/read_capture.h"
#include "testing/shared_captures.h"

namespace llmprof::analysis {
namespace {

std::vector<profile::StatedFigure> vllm_figures_of(const trace::Trace& trace) {
  return stated_figures(trace, client_requests(trace)[0]);
}

void expect_vllm_agrees(const std::vector<profile::StatedFigure>& figures) {
  for (const profile::StatedFigure& figure : figures) {
    ASSERT_TRUE(figure.computed) << figure.name;
    EXPECT_NEAR(*figure.computed, figure.stated, 1e-9 * std::abs(figure.stated)) << figure.name;
  }
}

// The fixture's aggregates were computed with Python's statistics module.
TEST(VllmFigures, FollowFromTheRequests) {
  const auto figures = vllm_figures_of(
      testing::read_capture(testing::test_data("requests") / "vllm_bench.json").value());
  EXPECT_EQ(figures.size(), 7U + 4U * 7U);  // all but the duration
  expect_vllm_agrees(figures);
  Diagnostics diagnostics;
  report_deviations("vllm.json", figures, diagnostics);
  EXPECT_TRUE(diagnostics.items().empty());
}

TEST(VllmFigures, ThatDoNotFollowAreReported) {
  trace::Trace trace =
      testing::read_capture(testing::test_data("requests") / "vllm_bench.json").value();
  auto& stated = trace.request_files[0].stated;
  const auto mean =
      std::ranges::find(stated, "mean_ttft_ms", &std::pair<std::string, double>::first);
  ASSERT_NE(mean, stated.end());
  mean->second *= 1.01;
  Diagnostics diagnostics;
  report_deviations("vllm.json", vllm_figures_of(trace), diagnostics);
  ASSERT_EQ(diagnostics.items().size(), 1U);
  EXPECT_EQ(diagnostics.items()[0].code, "requests_stated_differ");
  EXPECT_EQ(diagnostics.items()[0].count, 1U);
  EXPECT_NE(diagnostics.items()[0].message.find("mean_ttft_ms is stated as 28.8355"),
            std::string::npos)
      << diagnostics.items()[0].message;
}

TEST(VllmFigures, WithoutWhatTheyNeedAreNotComputed) {
  trace::Trace trace =
      testing::read_capture(testing::test_data("requests") / "vllm_bench.json").value();
  trace.request_files[0].stated = {
      {"request_throughput", 8}, {"p200_ttft_ms", 1}, {"p_ttft_ms", 1}};
  const auto figures = vllm_figures_of(trace);
  ASSERT_EQ(figures.size(), 1U);
  EXPECT_FALSE(figures[0].computed);  // the file does not state its duration
}

TEST(VllmFigures, MayHaveTheNearestValueAsPercentile) {
  trace::Trace trace =
      testing::read_capture(testing::test_data("requests") / "vllm_bench.json").value();
  // Of times to first token of 25, 27.5, 30.5 and 31.2 ms, by hand.
  trace.request_files[0].stated = {
      {"p50_ttft_ms", 30.5}, {"p60_ttft_ms", 30.5}, {"p99_ttft_ms", 31.2}};
  expect_vllm_agrees(vllm_figures_of(trace));
  // One of each definition is a deviation.
  trace.request_files[0].stated = {{"p50_ttft_ms", 29}, {"p99_ttft_ms", 31.2}};
  const auto mixed = vllm_figures_of(trace);
  EXPECT_DOUBLE_EQ(*mixed[0].computed, 29);
  EXPECT_NEAR(*mixed[1].computed, 31.179, 1e-9);
}

// The capture's program takes the nearest value as percentile.
TEST(SharedCapturesOfVllmFigures, FollowFromTheRequests) {
  LLMPROF_NEEDS_SHARED_CAPTURES(captures);
  for (const std::string name :
       {"llama_server_planted", "llama_server_planted_unrecorded", "llama_server_saturated"}) {
    const auto figures = vllm_figures_of(
        testing::read_capture(captures / "serving" / (name + ".vllm_bench.json.gz")).value());
    EXPECT_EQ(figures.size(), 18U) << name;
    expect_vllm_agrees(figures);
  }
}

}  // namespace
}  // namespace llmprof::analysis
