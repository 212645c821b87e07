#include "analysis/requests/request_tails.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace llmprof::analysis {
namespace {

using profile::RequestFigure;

constexpr Nanoseconds kNsPerMs = 1'000'000;

// Ten requests of one token each, which arrives after 10, 20, ... 100 ms. Of each time, 5 ms are
// its prompt, the rest is queue.
class TenRequests {
 public:
  TenRequests() {
    for (uint32_t request = 0; request < 10; ++request) {
      client_.requests.push_back({0, request, 1});
      client_.chunks.push_back({time(request), 1});
      client_.ends.push_back(time(request));
      client_.counted.push_back(true);
      into_.items.emplace_back().id = std::to_string(request);
    }
  }

  // `unrecorded`: of the request's time.
  TenRequests& recorded_without(uint32_t request, Nanoseconds unrecorded) {
    unrecorded_[request] = unrecorded;
    return *this;
  }

  const std::vector<profile::RequestTail>& tails() {
    RequestTails tails(client_);
    for (uint32_t request = 0; request < 10; ++request) {
      RequestInterval interval;
      interval.end = time(request);
      const auto part = [&](RequestPart of) -> Nanoseconds& {
        return interval.parts[static_cast<size_t>(of)];
      };
      part(RequestPart::own_prefill) = 5 * kNsPerMs;
      part(RequestPart::not_recorded) = unrecorded_[request];
      part(RequestPart::queue) = time(request) - 5 * kNsPerMs - unrecorded_[request];
      tails.add(request, interval);
      tails.finish(request);
    }
    tails.write(into_);
    return into_.tail;
  }

 private:
  static Nanoseconds time(uint32_t request) { return (request + 1) * 10 * kNsPerMs; }

  ClientTokens client_;
  std::array<Nanoseconds, 10> unrecorded_{};
  profile::Requests into_;
};

const profile::RequestTail* find_tail(const std::vector<profile::RequestTail>& tails,
                                      double quantile) {
  const auto found = std::ranges::find_if(tails, [&](const profile::RequestTail& tail) {
    return tail.figure == RequestFigure::ttft && tail.quantile.value == quantile;
  });
  return found == tails.end() ? nullptr : &*found;
}

// The tails of p90 and p99 have 90 and 100 ms, and 100 ms; 40, 50 and 60 ms are around the median.
TEST(RequestTailsTest, CompareTheSlowestWithThoseAroundTheMedian) {
  TenRequests requests;
  const auto& tails = requests.tails();
  const auto* p90 = find_tail(tails, 0.9);
  ASSERT_NE(p90, nullptr);
  EXPECT_DOUBLE_EQ(p90->above.value, 90);
  EXPECT_EQ(p90->count, 2U);
  EXPECT_EQ(p90->around_median, 3U);
  ASSERT_EQ(p90->parts.size(), 2U);
  EXPECT_EQ(p90->parts[0].part, RequestPart::queue);
  EXPECT_DOUBLE_EQ(p90->parts[0].tail.value, 90);
  EXPECT_DOUBLE_EQ(p90->parts[0].median.value, 45);
  EXPECT_DOUBLE_EQ(p90->parts[0].more.value, 45);
  EXPECT_DOUBLE_EQ(p90->parts[1].more.value, 0);
  ASSERT_NE(find_tail(tails, 0.99), nullptr);
  EXPECT_EQ(find_tail(tails, 0.99)->count, 1U);
}

// Of 100 ms, 20 were not recorded; of 90 ms, 5.
TEST(RequestTailsTest, ValuesWithMuchUnrecordedTimeAreLeftOut) {
  TenRequests requests;
  const auto& tails =
      requests.recorded_without(9, 20 * kNsPerMs).recorded_without(8, 5 * kNsPerMs).tails();
  const auto* p90 = find_tail(tails, 0.9);
  ASSERT_NE(p90, nullptr);
  EXPECT_DOUBLE_EQ(p90->above.value, 90);
  EXPECT_EQ(p90->count, 1U);
  EXPECT_DOUBLE_EQ(p90->parts[0].tail.value, 80);
  EXPECT_EQ(find_tail(tails, 0.99), nullptr);
}

}  // namespace
}  // namespace llmprof::analysis
