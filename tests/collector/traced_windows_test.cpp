#include "collector/cuda/tracing/call_numbers.h"

#include <gtest/gtest.h>

namespace llmprof::collector {
namespace {

TEST(TracedWindows, ContainTheirLaunches) {
  TracedWindows windows;
  EXPECT_FALSE(windows.hold(1));
  windows.open(0);
  EXPECT_TRUE(windows.hold(1));
  EXPECT_TRUE(windows.hold(5'000'000'000));
  windows.close(10);
  windows.open(20);
  windows.close(30);
  for (const uint32_t inside : {1U, 10U, 21U, 30U}) EXPECT_TRUE(windows.hold(inside)) << inside;
  for (const uint32_t outside : {11U, 20U, 31U}) EXPECT_FALSE(windows.hold(outside)) << outside;
}

TEST(TracedWindows, AClosedOneDoesNotChange) {
  TracedWindows windows;
  windows.close(5);
  EXPECT_FALSE(windows.hold(3));
  windows.open(10);
  windows.close(20);
  windows.close(90);
  EXPECT_FALSE(windows.hold(50));
}

TEST(TracedWindows, TheOldestAreForgotten) {
  TracedWindows windows;
  constexpr uint32_t kMany = 100;
  for (uint32_t i = 0; i < kMany; ++i) {
    windows.open(10 * i);
    windows.close(10 * i + 5);
  }
  EXPECT_FALSE(windows.hold(1));
  EXPECT_TRUE(windows.hold(10 * (kMany - 64) + 1));
  EXPECT_FALSE(windows.hold(10 * (kMany - 65) + 1));
}

}  // namespace
}  // namespace llmprof::collector
