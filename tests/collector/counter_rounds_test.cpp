#include "collector/cuda/counters/counter_rounds.h"

#include <gtest/gtest.h>

#include <vector>

namespace llmprof::collector {
namespace {

constexpr int64_t kMillisecond = 1'000'000;
constexpr int64_t kStep = 10;  // ms between checks

// A program whose requests start at these times, checked every 10 ms from `from` to `to`: when
// sampling started and ended, alternately, in ms.
std::vector<int64_t> changes(const std::vector<int64_t>& requests, int64_t from, int64_t to) {
  CounterRounds rounds;
  std::vector<int64_t> times;
  bool sampling = false;
  for (int64_t now = from; now <= to; now += kStep) {
    uint64_t begun = 0;
    for (const int64_t request : requests) begun += request <= now ? 1 : 0;
    if (const bool wanted = rounds.wants_samples(now * kMillisecond, begun); wanted != sampling) {
      sampling = wanted;
      times.push_back(now);
    }
  }
  return times;
}

std::vector<int64_t> every(int64_t length, int64_t count) {
  std::vector<int64_t> times;
  for (int64_t i = 0; i < count; ++i) times.push_back(i * length);
  return times;
}

TEST(CounterStart, WithoutRoundsImmediately) {
  CounterStart start;
  start.begin(100 * kMillisecond);
  EXPECT_TRUE(start.is_due(100 * kMillisecond, false, 0, 100 * kMillisecond));
}

TEST(CounterStart, InRoundsWithTheFirstRequest) {
  CounterStart start;
  start.begin(0);
  EXPECT_FALSE(start.is_due(20 * kMillisecond, true, 0, 10 * kMillisecond));
  EXPECT_TRUE(start.is_due(40 * kMillisecond, true, 1, 30 * kMillisecond));
  // Once due, it stays due.
  EXPECT_TRUE(start.is_due(60 * kMillisecond, true, 0, 50 * kMillisecond));
}

TEST(CounterStart, InRoundsWhenTheProgramHasItsMemory) {
  CounterStart start;
  start.begin(0);
  EXPECT_FALSE(start.is_due(1'199 * kMillisecond, true, 0, 200 * kMillisecond));
  EXPECT_TRUE(start.is_due(1'200 * kMillisecond, true, 0, 200 * kMillisecond));
}

TEST(CounterStart, AProgramThatNeverStopsAllocatingIsSampledAfterFiveSeconds) {
  CounterStart start;
  start.begin(1'000 * kMillisecond);
  EXPECT_FALSE(start.is_due(5'999 * kMillisecond, true, 0, 5'998 * kMillisecond));
  EXPECT_TRUE(start.is_due(6'000 * kMillisecond, true, 0, 5'999 * kMillisecond));
}

TEST(CounterRounds, AProgramWithoutRequestsIsSampledAllTheTime) {
  EXPECT_EQ(changes({}, 0, 100'000), (std::vector<int64_t>{0}));
}

TEST(CounterRounds, WaitsAnyTimeForTheFirstRequest) {
  EXPECT_EQ(changes({60'000}, 0, 65'000), (std::vector<int64_t>{0}));
}

// Requests of 300 ms: two complete ones from 300 to 900, which with the partial one before are 890
// ms, then a pause of 2,670 ms; one complete one from 3,600 to 3,900, 330 ms in all, then 990 ms.
TEST(CounterRounds, TwoCompleteRequestsThenOneAndPausesThreeTimesAsLong) {
  EXPECT_EQ(changes(every(300, 30), 10, 5'000),
            (std::vector<int64_t>{10, 900, 3'570, 3'900, 4'890}));
}

// Loading the model takes a minute, with counters on; then two complete requests are sampled.
TEST(CounterRounds, TimeBeforeTheFirstRequestDoesNotCountForTheRound) {
  std::vector<int64_t> requests = every(300, 20);
  for (int64_t& request : requests) request += 60'000;
  EXPECT_EQ(changes(requests, 0, 63'700),
            (std::vector<int64_t>{0, 60'600, 60'600 + 3 * 610, 63'000}));
}

// Starting takes 100 ms, in which the second request starts: only the third and fourth are
// complete.
TEST(CounterRounds, RequestsThatStartedWhileCountersWereStartingAreNotComplete) {
  CounterRounds rounds;
  EXPECT_TRUE(rounds.wants_samples(0, 1));
  rounds.begin(100 * kMillisecond, 2);
  EXPECT_TRUE(rounds.wants_samples(1'000 * kMillisecond, 4));
  EXPECT_FALSE(rounds.wants_samples(1'300 * kMillisecond, 5));
}

TEST(CounterRounds, ShortRequestsAreSampledForAQuarterOfASecond) {
  const auto times = changes(every(50, 100), 10, 1'500);
  EXPECT_EQ(times, (std::vector<int64_t>{10, 260, 260 + 3 * 250, 260 + 4 * 250}));
}

TEST(CounterRounds, ALongRequestIsSampledForTenSeconds) {
  EXPECT_EQ(changes({100}, 0, 91'000),
            (std::vector<int64_t>{0, 10'090, 40'090, 50'090, 80'090, 90'090}));
}

}  // namespace
}  // namespace llmprof::collector
