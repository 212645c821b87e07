#include "analysis/requests/request_items.h"

#include <gtest/gtest.h>

#include "analysis/requests/request_load.h"
#include "analysis/requests/request_times.h"
#include "testing/read_capture.h"
#include "testing/shared_captures.h"
#include "testing/temporary_folder.h"

namespace llmprof::analysis {
namespace {

using profile::RequestFigure;

trace::Trace read_requests_fixture(std::string_view name) {
  return testing::read_capture(testing::test_data("requests") / name).value();
}

trace::Trace read_requests(std::string_view requests) {
  const testing::TemporaryFolder folder;
  const auto path =
      folder.write("requests.json", R"({"clock": "CLOCK_MONOTONIC ns", "requests": [)" +
                                        std::string(requests) + "]}");
  return testing::read_capture(path).value();
}

// By hand: of llmprof.json, request 0 is warm-up and only request 1 completed.
TEST(RequestStatistics, FollowTheDefinitions) {
  const trace::Trace trace = read_requests_fixture("llmprof.json");
  const auto files = client_requests(trace);
  ASSERT_EQ(files.size(), 1U);
  profile::Requests requests;
  add_request_statistics(trace, files[0], requests);
  EXPECT_EQ(requests.sent, 4U);
  EXPECT_EQ(requests.completed, 1U);
  EXPECT_EQ(requests.failed, 3U);
  EXPECT_EQ(requests.warm_up, 1U);
  EXPECT_EQ(requests.output_tokens, 5U);
  EXPECT_DOUBLE_EQ(requests.ttft.mean->value, 0.025);
  EXPECT_DOUBLE_EQ(requests.e2e.mean->value, 0.0458);
  EXPECT_DOUBLE_EQ(requests.tpot.mean->value, 0.005);
  // Gaps of 5,000 ns, and of 15,000 ns before three tokens.
  EXPECT_EQ(requests.itl.count, 4U);
  EXPECT_DOUBLE_EQ(requests.itl.mean->value, 0.005);
  EXPECT_DOUBLE_EQ(requests.itl.std->value, 0);
}

TEST(RequestStatistics, ItemsKeepWhatIsUnknown) {
  const trace::Trace trace = read_requests_fixture("llmprof.json");
  const auto files = client_requests(trace);
  const auto items = request_items(trace, files[0]);
  ASSERT_EQ(items.size(), 5U);
  EXPECT_EQ(items[1].id, "1");
  EXPECT_EQ(items[1].client_delay->value, 200);
  EXPECT_EQ(items[1].ttft->value, 25'000);
  EXPECT_EQ(items[1].longest_gap->value, 15'000);
  EXPECT_EQ(items[1].token_times,
            std::vector<profile::WholeNanoseconds>({{25'000}, {30'000}, {45'000}}));
  EXPECT_DOUBLE_EQ(items[1].sent->value, 0.0502);
  EXPECT_TRUE(items[0].warm_up);
  EXPECT_EQ(items[2].status, profile::RequestStatus::cut);
  EXPECT_EQ(items[2].ttft->value, 30'000);
  EXPECT_FALSE(items[2].e2e);
  EXPECT_FALSE(items[2].tpot);
  EXPECT_FALSE(items[3].ttft);
  EXPECT_FALSE(items[3].e2e);
  EXPECT_FALSE(items[3].output_tokens);
  EXPECT_FALSE(items[4].cached_tokens);
}

TEST(RequestTimes, PercentilesAreByNearestRankOfTokens) {
  // 8 tokens: 1, 2, 3, and five of 4.
  const auto times = summarize_times({{3e6, 1}, {4e6, 5}, {1e6, 1}, {2e6, 1}});
  EXPECT_EQ(times.count, 8U);
  EXPECT_DOUBLE_EQ(times.mean->value, 26.0 / 8);
  EXPECT_DOUBLE_EQ(times.min->value, 1);
  EXPECT_DOUBLE_EQ(times.p50->value, 4);
  EXPECT_DOUBLE_EQ(times.max->value, 4);
  const auto three = summarize_times({{1e6, 1}, {2e6, 1}, {3e6, 1}});
  EXPECT_DOUBLE_EQ(three.p50->value, 2);
  EXPECT_DOUBLE_EQ(three.p90->value, 3);
  EXPECT_DOUBLE_EQ(three.std->value, 1);
  EXPECT_EQ(summarize_times({}).count, 0U);
  EXPECT_FALSE(summarize_times({}).p50);
}

// Four requests, one per second; by hand.
constexpr std::string_view kFour =
    R"({"scheduled_ns": 0, "sent_ns": 1000000, "chunks": [[101000000, 1], [111000000, 1]],
        "end_ns": 112000000, "status": "completed"},
       {"scheduled_ns": 1000000000, "sent_ns": 1001000000, "chunks": [[1501000000, 1], [1601000000, 1]],
        "end_ns": 1602000000, "status": "completed"},
       {"scheduled_ns": 2000000000, "sent_ns": 2001000000, "chunks": [[2101000000, 1]],
        "end_ns": 2102000000, "status": "completed"},
       {"scheduled_ns": 3000000000, "sent_ns": 3001000000, "chunks": [], "end_ns": 4001000000,
        "status": "failed"})";

TEST(RequestLoad, RatesAndObjectives) {
  const trace::Trace trace = read_requests(kFour);
  const auto files = client_requests(trace);
  const profile::RequestLoad load = request_load(
      trace, files[0], {{RequestFigure::ttft, {200}, {}}, {RequestFigure::itl, {10}, {}}});
  EXPECT_DOUBLE_EQ(*load.sent_rate, 1);
  EXPECT_DOUBLE_EQ(*load.completed_rate, 0.75);
  EXPECT_DOUBLE_EQ(load.output_rate->value, 1.25);
  EXPECT_EQ(load.most_concurrent, 1U);
  EXPECT_EQ(load.lateness->count, 4U);
  EXPECT_DOUBLE_EQ(load.lateness->max->value, 1);
  EXPECT_EQ(load.verdict, profile::LoadVerdict::short_load);
  EXPECT_DOUBLE_EQ(load.drain_start->value, 3000);
  ASSERT_EQ(load.objectives.size(), 2U);
  EXPECT_DOUBLE_EQ(load.objectives[0].attained->value, 2.0 / 3);
  EXPECT_DOUBLE_EQ(load.objectives[1].attained->value, 2.0 / 3);  // one token meets it
  EXPECT_DOUBLE_EQ(*load.goodput, 0.5);
  // Wilson's interval of 2 of 4, computed with R's prop.test(2, 4, correct = FALSE).
  EXPECT_NEAR(*load.goodput_low, 0.1500390, 1e-6);
  EXPECT_NEAR(*load.goodput_high, 0.8499610, 1e-6);
}

TEST(RequestLoad, ObjectivesOfTheFileCountUnlessOthersAreGiven) {
  const trace::Trace trace = read_requests_fixture("llmprof.json");
  const auto files = client_requests(trace);
  const profile::RequestLoad own = request_load(trace, files[0], {});
  ASSERT_EQ(own.objectives.size(), 2U);
  EXPECT_EQ(own.objectives[0].figure, RequestFigure::ttft);
  EXPECT_DOUBLE_EQ(own.objectives[0].limit.value, 50);
  EXPECT_DOUBLE_EQ(own.objectives[1].attained->value, 1);
  EXPECT_EQ(own.arrivals, "poisson");
  EXPECT_DOUBLE_EQ(*own.rate, 10);
  EXPECT_FALSE(own.concurrency);
  const profile::RequestLoad other =
      request_load(trace, files[0], {{RequestFigure::e2e, {0.04}, {}}});
  ASSERT_EQ(other.objectives.size(), 1U);
  EXPECT_DOUBLE_EQ(other.objectives[0].attained->value, 0);
  EXPECT_DOUBLE_EQ(*other.goodput, 0);
}

// By hand: requests 0 to 2 take 111, 601 and 101 ms, and 10, 100 and no ms per later token.
TEST(RequestLoad, AllObjectivesOfTheFileCount) {
  const testing::TemporaryFolder folder;
  const auto path = folder.write(
      "requests.json",
      R"({"clock": "CLOCK_MONOTONIC ns", "slo": {"e2e_ms": 111, "tpot_ms": 9.5, "ttft_ms": 500.5,
          "itl_ms": 100}, "requests": [)" +
          std::string(kFour) + "]}");
  const trace::Trace trace = testing::read_capture(path).value();
  const profile::RequestLoad load = request_load(trace, client_requests(trace)[0], {});
  ASSERT_EQ(load.objectives.size(), 4U);
  const auto expect = [&](size_t i, RequestFigure figure, double limit, double attained) {
    EXPECT_EQ(load.objectives[i].figure, figure);
    EXPECT_DOUBLE_EQ(load.objectives[i].limit.value, limit);
    EXPECT_DOUBLE_EQ(load.objectives[i].attained->value, attained);
  };
  expect(0, RequestFigure::ttft, 500.5, 1);
  expect(1, RequestFigure::itl, 100, 1);
  expect(2, RequestFigure::tpot, 9.5, 1.0 / 3);
  expect(3, RequestFigure::e2e, 111, 2.0 / 3);
  EXPECT_DOUBLE_EQ(*load.goodput, 0.25);  // the third alone, in 4 s
}

TEST(SharedCapturesOfRequestLoads, TheSaturatedServerIsCalledSo) {
  LLMPROF_NEEDS_SHARED_CAPTURES(captures);
  const auto verdict_of = [&](std::string_view name) {
    const trace::Trace trace =
        testing::read_capture(captures / "serving" / (std::string(name) + ".requests.json.gz"))
            .value();
    return request_load(trace, client_requests(trace)[0], {}).verdict;
  };
  EXPECT_EQ(verdict_of("llama_server_saturated"), profile::LoadVerdict::over_saturated);
  EXPECT_EQ(verdict_of("llama_server_planted"), profile::LoadVerdict::steady);
  EXPECT_EQ(verdict_of("llama_server_planted_unrecorded"), profile::LoadVerdict::steady);
  EXPECT_EQ(verdict_of("hf_continuous_batching"), profile::LoadVerdict::short_load);
}

}  // namespace
}  // namespace llmprof::analysis
