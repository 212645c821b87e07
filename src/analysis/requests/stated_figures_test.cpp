#include "analysis/requests/stated_figures.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "testing/read_capture.h"
#include "testing/shared_captures.h"

namespace llmprof::analysis {
namespace {

std::vector<profile::StatedFigure> figures_of_fixture(std::string_view name) {
  const trace::Trace trace = testing::read_capture(testing::test_data("requests") / name).value();
  const auto files = client_requests(trace);
  EXPECT_EQ(files.size(), 1U);
  return stated_figures(trace, files.at(0));
}

// Returns how many figures follow from the requests; those must agree with the stated ones, which
// tests/data/requests/make_fixtures.py computes on its own.
size_t figures_that_agree(const std::vector<profile::StatedFigure>& figures) {
  size_t agree = 0;
  for (const profile::StatedFigure& figure : figures) {
    if (!figure.computed) continue;
    ++agree;
    EXPECT_NEAR(*figure.computed, figure.stated, 1e-9 * std::max(1.0, std::abs(figure.stated)))
        << figure.name;
  }
  return agree;
}

TEST(StatedFigures, OfSglangBenchFollowFromItsRequests) {
  const auto figures = figures_of_fixture("sglang_bench.jsonl");
  // 5 counts and rates, 6 statistics of ttft and 7 of itl.
  EXPECT_EQ(figures_that_agree(figures), 18U);
  // The file does not say when an answer ended.
  for (const profile::StatedFigure& figure : figures) {
    const bool needs_end = figure.name.find("tpot") != std::string::npos ||
                           figure.name.find("e2e_latency") != std::string::npos;
    EXPECT_EQ(figure.computed.has_value(), !needs_end) << figure.name;
  }
  EXPECT_EQ(figures.size(), 30U);
}

TEST(StatedFigures, OfAiperfFollowFromItsRequests) {
  const auto figures = figures_of_fixture("aiperf_profile_export.jsonl");
  EXPECT_EQ(figures.size(), 61U);  // 12 statistics of 5 quantities, and the number of requests
  EXPECT_EQ(figures_that_agree(figures), figures.size());
}

TEST(StatedFigures, OfGuidellmFollowFromItsRequests) {
  const auto figures = figures_of_fixture("guidellm_report.json");
  EXPECT_EQ(figures.size(), 102U);  // 17 statistics of 6 quantities
  EXPECT_EQ(figures_that_agree(figures), figures.size());
}

TEST(StatedFigures, OfASampleAreNotComputed) {
  trace::Trace trace =
      testing::read_capture(testing::test_data("requests") / "guidellm_report.json").value();
  for (auto& [name, value] : trace.request_files.at(0).stated) {
    if (name == "time_to_first_token_ms.count") ++value;
  }
  for (const auto& figure : stated_figures(trace, client_requests(trace).at(0))) {
    const bool of_sample = figure.name.starts_with("time_to_first_token_ms.");
    EXPECT_EQ(figure.computed.has_value(), !of_sample) << figure.name;
  }
}

TEST(StatedFigures, ThatDifferAreReported) {
  Diagnostics diagnostics;
  report_deviations("bench.json", {{"a", 5, 5.000001}, {"b", 5, std::nullopt}, {"c", 5, 5.1}},
                    diagnostics);
  ASSERT_EQ(diagnostics.items().size(), 1U);
  EXPECT_EQ(diagnostics.items()[0].count, 1U);
  EXPECT_NE(diagnostics.items()[0].message.find("c is stated as 5, but its requests give 5.1"),
            std::string::npos);
}

}  // namespace
}  // namespace llmprof::analysis
