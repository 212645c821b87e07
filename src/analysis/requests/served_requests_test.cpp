#include "analysis/requests/served_requests.h"

#include <gtest/gtest.h>

namespace llmprof::analysis {
namespace {

using profile::Milliseconds;
using profile::ServedBy;

profile::Requests requests_of_client() {
  profile::Requests requests;
  requests.join.state = profile::JoinState::joined;
  requests.completed = 2;
  for (const double sent : {500.0, 100.0}) {
    profile::Request& request = requests.items.emplace_back();
    request.sent = Milliseconds{sent};
    request.e2e = profile::WholeNanoseconds{200'000'000};
  }
  requests.ttft.count = 2;
  requests.ttft.mean = Milliseconds{40};
  requests.itl.count = 30;
  requests.itl.mean = Milliseconds{5};
  requests.batches.resize(4);
  for (uint64_t i = 0; i < 4; ++i) {
    requests.batches[i].rows = i + 1;
    requests.batches[i].steps = 2;
  }
  return requests;
}

TEST(ServedRequests, AreThoseOfTheClientIfJoined) {
  const auto windows = served_or_estimated(requests_of_client(), {profile::ServedWindow()});
  ASSERT_EQ(windows.size(), 1U);
  EXPECT_EQ(windows[0].source, ServedBy::requests);
  EXPECT_EQ(windows[0].start.value, 100);
  EXPECT_EQ(windows[0].span.value, 600);  // the later one ends at 700
  EXPECT_EQ(windows[0].prompts, 2U);
  EXPECT_EQ(windows[0].prompt->value, 40);
  EXPECT_EQ(windows[0].tokens, 30U);
  EXPECT_EQ(windows[0].token->value, 5);
  EXPECT_EQ(windows[0].batches, 4U);
  EXPECT_EQ(windows[0].passes, 8U);
  EXPECT_EQ(windows[0].sequences_mean, 2.5);
  EXPECT_EQ(windows[0].sequences_max, 4U);
}

TEST(ServedRequests, AreEstimatedOtherwise) {
  profile::ServedWindow estimated;
  estimated.tokens = 7;
  profile::Requests requests = requests_of_client();
  requests.join.state = profile::JoinState::no_steps;
  for (const auto& of : {std::optional<profile::Requests>(), std::optional(requests)}) {
    const auto windows = served_or_estimated(of, {estimated});
    ASSERT_EQ(windows.size(), 1U);
    EXPECT_EQ(windows[0].source, ServedBy::steps);
    EXPECT_EQ(windows[0].tokens, 7U);
  }
  EXPECT_TRUE(served_or_estimated(std::nullopt, {}).empty());
}

}  // namespace
}  // namespace llmprof::analysis
