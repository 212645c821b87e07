#include "analysis/tracing/untraced_gpu_time.h"

#include <gtest/gtest.h>

#include "testing/hand_made_trace.h"

namespace llmprof::analysis {
namespace {

constexpr Nanoseconds kOneMs = 1'000'000;

class UnrecordedBeginningTest : public ::testing::Test {
 protected:
  void kernel(Nanoseconds launched, Nanoseconds start, Nanoseconds end, uint32_t stream = 7) {
    testing::HandMadeTrace::Place place;
    place.stream = stream;
    trace_.kernel("k", launched, start, end, place);
  }
  std::optional<Nanoseconds> found() {
    const auto all = unrecorded_beginnings(trace_.freeze());
    return all.empty() ? std::nullopt : std::optional(all.begin()->second);
  }
  testing::HandMadeTrace trace_;
};

// Like an engine's step launched while the GPU worked on the previous, unrecorded one: one kernel
// on another stream runs at once, the others 90 ms after their launches.
TEST_F(UnrecordedBeginningTest, EndsWithTheFirstWorkOfAStreamThatWaited) {
  kernel(0, 1000, 2000, 8);
  kernel(3000, 90 * kOneMs, 91 * kOneMs);
  kernel(4000, 91 * kOneMs, 95 * kOneMs);
  EXPECT_EQ(found(), 90 * kOneMs);
}

TEST_F(UnrecordedBeginningTest, IsNoneWhereWorkBeginsSoonAfterItsLaunch) {
  kernel(0, 3000, 40 * kOneMs);
  kernel(1000, 40 * kOneMs,
         95 * kOneMs);  // after the previous one, on the same stream
  EXPECT_EQ(found(), std::nullopt);
}

// A second stream waits for an event of the first: work recorded meanwhile explains the wait.
TEST_F(UnrecordedBeginningTest, IsNoneWhereRecordedWorkExplainsTheWait) {
  kernel(0, 3000, 80 * kOneMs);
  kernel(1000, 80 * kOneMs, 90 * kOneMs, 8);
  EXPECT_EQ(found(), std::nullopt);
}

// A stream that is first used in the middle of the capture.
TEST_F(UnrecordedBeginningTest, IsNoneForAStreamThatBeginsLater) {
  kernel(0, 3000, 5 * kOneMs);
  kernel(50 * kOneMs, 90 * kOneMs, 95 * kOneMs, 8);
  EXPECT_EQ(found(), std::nullopt);
}

}  // namespace
}  // namespace llmprof::analysis
