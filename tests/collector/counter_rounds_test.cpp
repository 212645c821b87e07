#include "collector/cuda/counter_rounds.h"

#include <gtest/gtest.h>

#include <vector>

namespace llmprof::collector {
namespace {

constexpr int64_t kMillisecond = 1'000'000;
constexpr int64_t kStep = 10;  // ms between looks

// A program whose requests begin at these times, looked at every 10 ms from `from` until `to`: when
// sampling began and ended, in turn, in ms.
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

TEST(CounterRounds, AProgramWithoutRequestsIsSampledAllTheTime) {
  EXPECT_EQ(changes({}, 0, 100'000), (std::vector<int64_t>{0}));
}

TEST(CounterRounds, WaitsForTheFirstRequestHoweverLongThatTakes) {
  EXPECT_EQ(changes({60'000}, 0, 65'000), (std::vector<int64_t>{0}));
}

// Of 300 ms each: two whole ones from 300 to 900 and 1,800 ms of rest; one whole from 3,000,
// because that of 2,700 is open already when sampling begins, and 900 ms of rest.
TEST(CounterRounds, TwoWholeRequestsThenOneAndThreeTimesAsMuchRest) {
  EXPECT_EQ(changes(every(300, 20), 10, 4'300),
            (std::vector<int64_t>{10, 900, 2'700, 3'300, 4'200}));
}

TEST(CounterRounds, ShortRequestsAreSampledForAQuarterOfASecond) {
  const auto times = changes(every(50, 100), 10, 1'300);
  ASSERT_EQ(times.size(), 3U);
  EXPECT_EQ(times[1], 300) << "from the first whole one, at 50 ms";
  EXPECT_EQ(times[2], 300 + 3 * 250);
}

TEST(CounterRounds, ALongRequestIsSampledForTenSeconds) {
  EXPECT_EQ(changes({100}, 0, 41'000), (std::vector<int64_t>{0, 10'100, 40'100}));
}

}  // namespace
}  // namespace llmprof::collector
