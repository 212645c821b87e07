#include "analysis/memory_ledger/ledger_timeline.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace llmprof::analysis {
namespace {

using Indices = std::set<size_t>;

TEST(ReadingsToShow, AreTheHighestOfEachStretch) {
  // Stretches of 26 ns: 0 to 25, 26 to 51, 52 to 77, 78 to 103.
  const std::vector<UsedMemory> readings = {{1000, 5}, {1010, 9}, {1025, 7}, {1026, 3},
                                            {1030, 8}, {1051, 8}, {1080, 4}, {1100, 2}};
  EXPECT_EQ(readings_to_show(readings, 4, {}), (Indices{0, 1, 4, 6, 7}));
}

TEST(ReadingsToShow, KeepThoseOfMoments) {
  const std::vector<UsedMemory> readings = {{0, 5}, {1, 9}, {2, 7}, {3, 8}, {4, 6}};
  EXPECT_EQ(readings_to_show(readings, 1, {3}), (Indices{0, 1, 3, 4}));
}

TEST(ReadingsToShow, AreBoundedAndHaveTheMaximum) {
  std::vector<UsedMemory> readings;
  constexpr uint64_t kReadings = 20'000;
  for (uint64_t i = 0; i < kReadings; ++i) {
    readings.push_back({static_cast<Nanoseconds>(i * i), i * 7919 % 10'007});
  }
  const auto shown = readings_to_show(readings, 500, {});
  EXPECT_LE(shown.size(), 502U);
  EXPECT_GE(shown.size(), 400U);
  const auto highest = std::ranges::max_element(readings, {}, &UsedMemory::used);
  EXPECT_TRUE(std::ranges::any_of(
      shown, [&](size_t index) { return readings[index].used == highest->used; }));
}

TEST(ReadingsToShow, AreAllOfFew) {
  EXPECT_EQ(readings_to_show({}, 500, {}), Indices{});
  EXPECT_EQ(readings_to_show({{7, 1}}, 500, {}), Indices{0});
  EXPECT_EQ(readings_to_show({{7, 1}, {7, 2}, {9, 1}}, 500, {}), (Indices{0, 1, 2}));
}

}  // namespace
}  // namespace llmprof::analysis
