#include "analysis/requests/request_delays.h"

#include <gtest/gtest.h>

#include "testing/joined_load.h"

namespace llmprof::analysis {
namespace {

void add_waits(RequestDelays& delays, uint32_t request, uint32_t chunk,
               const std::vector<WaitFor>& waits) {
  RequestInterval interval;
  interval.chunk = chunk;
  interval.waits = waits;
  delays.add(request, interval);
}

// "a" waits 30 for its first token and 5 for a later one, both for "c", and twice for "d"; "b"
// waits 4 for "c".
TEST(RequestDelays, AddUpByPairAndByOwner) {
  RequestDelays delays;
  add_waits(delays, 0, 0, {{2, 30}});
  add_waits(delays, 0, 1, {{2, 5}, {3, 3}});
  add_waits(delays, 0, 2, {{3, 5}});
  add_waits(delays, 1, 4, {{2, 4}});
  profile::Requests requests = JoinedLoad::named({"a", "b", "c", "d"});
  delays.write(requests);

  ASSERT_EQ(requests.delays.size(), 3U);
  const auto expect = [&](size_t i, std::string_view by, std::string_view of, Nanoseconds time,
                          Nanoseconds of_first, uint64_t gaps) {
    EXPECT_EQ(requests.delays[i].by, by);
    EXPECT_EQ(requests.delays[i].of, of);
    EXPECT_EQ(requests.delays[i].time.value, time);
    EXPECT_EQ(requests.delays[i].of_first_token.value, of_first);
    EXPECT_EQ(requests.delays[i].gaps, gaps);
  };
  expect(0, "d", "a", 8, 0, 2);
  expect(1, "c", "a", 5, 30, 1);
  expect(2, "c", "b", 4, 0, 1);

  ASSERT_EQ(requests.delayers.size(), 2U);
  EXPECT_EQ(requests.delayers[0].by, "c");
  EXPECT_EQ(requests.delayers[0].time.value, 9);
  EXPECT_EQ(requests.delayers[0].of_first_tokens.value, 30);
  EXPECT_EQ(requests.delayers[0].requests, 2U);
  EXPECT_EQ(requests.delayers[0].gaps, 2U);
  EXPECT_EQ(requests.delayers[1].by, "d");
  EXPECT_EQ(requests.delayers[1].time.value, 8);
  EXPECT_EQ(requests.delayers[1].requests, 1U);
}

// The shortest pair is left out; what its owner delayed in total is kept.
TEST(RequestDelays, OnlyPairsAreLimited) {
  RequestDelays delays;
  std::vector<std::string> ids;
  Nanoseconds total = 0;
  for (uint32_t request = 0; request <= 1001; ++request) {
    ids.push_back(std::to_string(request));
    if (request == 0) continue;
    add_waits(delays, request, 1, {{0, 10 + request}});
    total += 10 + request;
  }
  profile::Requests requests = JoinedLoad::named(ids);
  delays.write(requests);
  ASSERT_EQ(requests.delays.size(), 1000U);
  EXPECT_EQ(requests.delays.front().of, "1001");
  EXPECT_EQ(requests.delays.back().of, "2");
  ASSERT_EQ(requests.delayers.size(), 1U);
  EXPECT_EQ(requests.delayers[0].time.value, total);
  EXPECT_EQ(requests.delayers[0].requests, 1001U);
}

TEST(RequestDelays, TheLargestDelayerIsTheFirstOfEqualOnes) {
  EXPECT_FALSE(most_delayed_by({}));
  EXPECT_FALSE(most_delayed_by({{5, 0}}));
  EXPECT_EQ(most_delayed_by({{3, 5}, {1, 4}}), 3U);
  EXPECT_EQ(most_delayed_by({{3, 4}, {1, 4}, {2, 4}}), 1U);
}

}  // namespace
}  // namespace llmprof::analysis
