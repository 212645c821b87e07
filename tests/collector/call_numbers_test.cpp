#include "collector/cuda/tracing/call_numbers.h"

#include <gtest/gtest.h>

namespace llmprof::collector {
namespace {

TEST(CallNumbers, GrowWithTheCalls) {
  CallNumbers numbers;
  numbers.note(5);
  const uint64_t fifth = numbers.latest();
  numbers.note(7);
  EXPECT_EQ(numbers.latest(), fifth + 2);
  numbers.note(6);  // its thread was delayed
  EXPECT_EQ(numbers.latest(), fifth + 2);
  EXPECT_EQ(numbers.number_of(3), fifth - 2);
  EXPECT_EQ(numbers.number_of(9), fifth + 4);
}

TEST(CallNumbers, ContinueWhenCorrelationsStartOver) {
  CallNumbers numbers;
  numbers.note_after_pause(UINT32_MAX - 1);
  const uint64_t before = numbers.latest();
  numbers.note(UINT32_MAX);
  numbers.note(1);  // 0 is none
  EXPECT_EQ(numbers.latest(), before + 3);
  EXPECT_EQ(numbers.number_of(UINT32_MAX - 1), before);
  EXPECT_EQ(numbers.number_of(10), before + 12);
}

TEST(CallNumbers, GrowOverAPauseWithoutCounting) {
  CallNumbers numbers;
  numbers.note(100);
  const uint64_t before = numbers.latest();
  // 3,000 million calls: more than half of the range of 32 bits.
  numbers.note_after_pause(3'000'000'100);
  EXPECT_EQ(numbers.latest(), before + 3'000'000'000);
  numbers.note_after_pause(3'000'000'099);  // noted late
  EXPECT_EQ(numbers.latest(), before + 3'000'000'000);
}

TEST(CallNumbers, AWindowMayLastLongerThanCorrelationsDo) {
  CallNumbers numbers;
  TracedWindows windows;
  numbers.note(1);
  windows.open(numbers.latest());
  constexpr uint32_t kStride = 1'000'000'000;
  uint32_t correlation = 1;
  for (int i = 0; i < 9; ++i) {
    correlation += kStride;
    numbers.note(correlation);
    EXPECT_TRUE(windows.hold(numbers.number_of(correlation))) << i;
  }
  windows.close(numbers.latest());
  EXPECT_TRUE(windows.hold(numbers.number_of(correlation)));
  EXPECT_FALSE(windows.hold(numbers.number_of(correlation + 1)));
}

TEST(CallNumbers, WindowsAcrossTheOverflow) {
  CallNumbers numbers;
  TracedWindows windows;
  numbers.note_after_pause(UINT32_MAX - 10);
  windows.open(numbers.latest());
  numbers.note(5);
  windows.close(numbers.latest());
  numbers.note(20);
  for (const uint32_t inside : {UINT32_MAX - 9, UINT32_MAX, 1U, 5U}) {
    EXPECT_TRUE(windows.hold(numbers.number_of(inside))) << inside;
  }
  for (const uint32_t outside : {UINT32_MAX - 10, 6U, 20U}) {
    EXPECT_FALSE(windows.hold(numbers.number_of(outside))) << outside;
  }
}

TEST(CallNumbers, ContinueWhenCuptiStartsOver) {
  CallNumbers numbers;
  numbers.note_after_pause(1);
  numbers.note(2400);
  const uint64_t before = numbers.latest();
  numbers.may_start_over();
  numbers.note_after_pause(1);
  EXPECT_EQ(numbers.latest(), before + 1);
  numbers.note(3);
  EXPECT_EQ(numbers.latest(), before + 3);
  EXPECT_EQ(static_cast<uint32_t>(numbers.number_of(3)), 2403U) << "as the log has it";
}

TEST(CallNumbers, ContinueWhenCuptiDoesNotStartOver) {
  CallNumbers numbers;
  numbers.note_after_pause(1);
  numbers.note(2400);
  const uint64_t before = numbers.latest();
  numbers.may_start_over();
  numbers.note_after_pause(2500);
  EXPECT_EQ(numbers.latest(), before + 100);
  EXPECT_EQ(static_cast<uint32_t>(numbers.number_of(2500)), 2500U);
}

}  // namespace
}  // namespace llmprof::collector
