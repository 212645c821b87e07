#include "exports/perfetto/trace_file.h"

#include <gtest/gtest.h>

namespace llmprof::exports {
namespace {

std::vector<std::vector<uint32_t>> rows_of(const std::vector<Intervals>& lanes) {
  std::vector<std::vector<uint32_t>> rows;
  for (const Intervals& lane : lanes) {
    auto& of_lane = rows.emplace_back();
    for (const Interval& interval : lane) of_lane.push_back(interval.row);
  }
  return rows;
}

using Rows = std::vector<std::vector<uint32_t>>;

TEST(Lanes, OfWorkThatFollowsWorkAreOne) {
  EXPECT_EQ(rows_of(in_lanes({{0, 5, 0, 0}, {5, 7, 0, 1}, {9, 9, 0, 2}}, Nesting::none)),
            (Rows{{0, 1, 2}}));
  EXPECT_TRUE(in_lanes({}, Nesting::none).empty());
}

TEST(Lanes, TakeWhatOverlapsApart) {
  const std::vector<Interval> overlapping = {{0, 10, 0, 0}, {2, 4, 0, 1}, {5, 12, 0, 2}};
  EXPECT_EQ(rows_of(in_lanes(overlapping, Nesting::none)), (Rows{{0}, {1, 2}}));
  EXPECT_EQ(rows_of(in_lanes(overlapping, Nesting::allowed)), (Rows{{0, 1}, {2}}));
}

TEST(Lanes, HaveOuterIntervalsFirstWhateverTheOrder) {
  EXPECT_EQ(rows_of(in_lanes({{3, 4, 0, 2}, {0, 2, 0, 1}, {0, 10, 0, 0}}, Nesting::allowed)),
            (Rows{{0, 1, 2}}));
}

}  // namespace
}  // namespace llmprof::exports
