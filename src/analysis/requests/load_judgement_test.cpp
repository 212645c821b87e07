#include "analysis/requests/load_judgement.h"

#include <gtest/gtest.h>

#include <cmath>
#include <queue>
#include <random>

namespace llmprof::analysis {
namespace {

using profile::LoadVerdict;

constexpr size_t kSlots = 8;

// A server with slots, each of which takes 1 s per request on average. `rho`: requests arrive at
// this rate, over what the slots can serve.
std::vector<SentRequest> served(double rho, size_t count, unsigned seed) {
  std::mt19937 random(seed);
  // The distributions of the standard library differ between implementations.
  const auto uniform = [&] { return (static_cast<double>(random()) + 0.5) / 4294967296.0; };
  std::priority_queue<double, std::vector<double>, std::greater<>> free_at;
  for (size_t i = 0; i < kSlots; ++i) free_at.push(0);
  std::vector<SentRequest> requests;
  double now = 0;
  for (size_t i = 0; i < count; ++i) {
    now -= std::log(uniform()) / (rho * double{kSlots});
    const double begin = std::max(free_at.top(), now);
    free_at.pop();
    const double took = 0.2 + 1.6 * uniform();
    free_at.push(begin + took);
    const auto ns = [](double seconds) { return static_cast<Nanoseconds>(seconds * 1e9); };
    requests.push_back({ns(now), ns(begin + took), ns(begin - now + took / 10)});
  }
  return requests;
}

class LoadJudgement : public ::testing::TestWithParam<unsigned> {};

TEST_P(LoadJudgement, CallsAServerThatCannotKeepUp) {
  EXPECT_EQ(judge_load(served(1.1, 4000, GetParam())), LoadVerdict::over_saturated);
  EXPECT_EQ(judge_load(served(1.5, 400, GetParam())), LoadVerdict::over_saturated);
}

TEST_P(LoadJudgement, DoesNotCallOneThatKeepsUp) {
  EXPECT_EQ(judge_load(served(0.9, 4000, GetParam())), LoadVerdict::steady);
  EXPECT_EQ(judge_load(served(0.7, 400, GetParam())), LoadVerdict::steady);
}

INSTANTIATE_TEST_SUITE_P(Seeds, LoadJudgement, ::testing::Range(1U, 11U));

TEST(LoadJudgementOfFewRequests, IsNone) {
  EXPECT_EQ(judge_load(served(3, 39, 1)), LoadVerdict::short_load);
  EXPECT_EQ(judge_load({}), LoadVerdict::short_load);
  EXPECT_EQ(judge_load(std::vector<SentRequest>(100, {5, 9, 2})), LoadVerdict::short_load);
}

TEST(Concurrency, CountsRequestsInFlight) {
  const std::vector<SentRequest> requests = {{0, 10, {}}, {4, 6, {}}, {6, 12, {}}, {20, 20, {}}};
  const auto changes = concurrency_of(requests);
  ASSERT_EQ(changes.size(), 5U);
  const std::pair<Nanoseconds, uint64_t> expected[] = {{0, 1}, {4, 2}, {6, 2}, {10, 1}, {12, 0}};
  for (size_t i = 0; i < changes.size(); ++i) {
    EXPECT_EQ(changes[i].time, expected[i].first);
    EXPECT_EQ(changes[i].requests, expected[i].second);
  }
}

// One more request each 10 ns up to ten in flight, each for 100 ns.
TEST(RampUp, EndsWhenTheLevelIsReached) {
  std::vector<SentRequest> requests;
  for (Nanoseconds i = 0; i < 100; ++i) requests.push_back({10 * i, 10 * i + 100, {}});
  EXPECT_EQ(end_of_ramp_up(requests, concurrency_of(requests)), 90);
  requests.resize(30);
  EXPECT_EQ(end_of_ramp_up(requests, concurrency_of(requests)), std::nullopt);
}

TEST(RampUp, IsNoneIfTheFirstRequestIsTheLevel) {
  std::vector<SentRequest> requests;
  for (Nanoseconds i = 0; i < 100; ++i) requests.push_back({10 * i, 10 * i + 10, {}});
  EXPECT_EQ(end_of_ramp_up(requests, concurrency_of(requests)), std::nullopt);
}

}  // namespace
}  // namespace llmprof::analysis
