#include "analysis/requests/sweep.h"

#include <gtest/gtest.h>

namespace llmprof::analysis {
namespace {

profile::SweptLoad load_of(double value, double rate, double e2e_ms, double goodput) {
  profile::SweptLoad load;
  load.value = value;
  load.completed_rate = rate;
  load.e2e_mean = profile::Milliseconds{e2e_ms};
  load.goodput = goodput;
  load.verdict = profile::LoadVerdict::steady;
  return load;
}

// A server of 10 requests per second whose time follows 100 ms / (1 - rate / 10): rate over time is
// largest at half of what it can do.
std::vector<profile::SweptLoad> server_of_ten() {
  std::vector<profile::SweptLoad> loads;
  for (const double rate : {1.0, 3.0, 5.0, 7.5, 9.0}) {
    loads.push_back(load_of(rate, rate, 100 / (1 - rate / 10), rate < 8 ? rate : 2));
  }
  return loads;
}

TEST(FindKnee, IsWhereThroughputOverTimeIsLargest) {
  EXPECT_EQ(find_knee(server_of_ten()), 5.0);
  EXPECT_EQ(find_best_goodput(server_of_ten()), 7.5);
}

TEST(FindKnee, IsNoLoadThatWasNotHeldOrThatOverloadedTheServer) {
  auto loads = server_of_ten();
  loads[2].held = false;
  EXPECT_EQ(find_knee(loads), 3.0);
  loads = server_of_ten();
  loads[2].verdict = profile::LoadVerdict::over_saturated;
  loads[3].held = false;
  EXPECT_EQ(find_knee(loads), 3.0);
  EXPECT_EQ(find_best_goodput(loads), 5.0);
}

TEST(FindKnee, NeedsThreeLoads) {
  auto loads = server_of_ten();
  loads.resize(2);
  EXPECT_EQ(find_knee(loads), std::nullopt);
  EXPECT_EQ(find_knee({}), std::nullopt);
  EXPECT_EQ(find_best_goodput({}), std::nullopt);
}

TEST(SweptLoad, HasNoFiguresWithoutRequests) {
  const auto load = swept_load(4, "rate-4/requests.json", false, nullptr);
  EXPECT_FALSE(load.completed_rate);
  EXPECT_FALSE(load.held);
  profile::Requests requests;
  requests.load.completed_rate = 3.5;
  requests.ttft.p99 = profile::Milliseconds{12};
  const auto measured = swept_load(4, "rate-4/requests.json", true, &requests);
  EXPECT_EQ(measured.completed_rate, 3.5);
  EXPECT_EQ(measured.ttft_p99->value, 12);
}

}  // namespace
}  // namespace llmprof::analysis
