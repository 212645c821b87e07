#include "fit/caching_allocator.h"

#include <gtest/gtest.h>

namespace llmprof::fit {
namespace {

constexpr uint64_t kOneMib = 1 << 20;
using Place = CachingAllocator::Place;

CachingAllocator unlimited() { return CachingAllocator(std::nullopt); }

TEST(CachingAllocator, SegmentsDependOnTheRequest) {
  CachingAllocator allocator = unlimited();
  allocator.allocate(1);
  EXPECT_EQ(allocator.allocated(), 512U);
  EXPECT_EQ(allocator.reserved(), 2 * kOneMib);
  allocator.allocate(kOneMib + 1);
  EXPECT_EQ(allocator.reserved(), 22 * kOneMib);
  allocator.allocate(30 * kOneMib + 1);
  EXPECT_EQ(allocator.reserved(), 54 * kOneMib);
  EXPECT_EQ(allocator.allocate(0), CachingAllocator::kNone);
}

TEST(CachingAllocator, SmallRequestsShareASegment) {
  CachingAllocator allocator = unlimited();
  for (int i = 0; i < 4; ++i) allocator.allocate(kOneMib / 2);
  EXPECT_EQ(allocator.reserved(), 2 * kOneMib);
  allocator.allocate(1);
  EXPECT_EQ(allocator.reserved(), 4 * kOneMib);
}

TEST(CachingAllocator, TheSmallestFreeBlockThatFitsIsTaken) {
  CachingAllocator allocator = unlimited();
  const auto large = allocator.allocate(64 * kOneMib);
  const auto medium = allocator.allocate(32 * kOneMib);
  allocator.free(large);
  allocator.free(medium);
  allocator.allocate(30 * kOneMib);
  allocator.allocate(64 * kOneMib);
  EXPECT_EQ(allocator.reserved(), 96 * kOneMib);
}

// A long-lived tensor in a freed block leaves less than the next one of the block's size needs.
TEST(CachingAllocator, ATensorInAFreedBlockFragmentsIt) {
  CachingAllocator allocator = unlimited();
  allocator.free(allocator.allocate(64 * kOneMib));
  allocator.allocate(16 * kOneMib);
  EXPECT_EQ(allocator.reserved(), 64 * kOneMib);
  allocator.allocate(64 * kOneMib);
  EXPECT_EQ(allocator.reserved(), 128 * kOneMib);
}

TEST(CachingAllocator, FreedNeighborsMerge) {
  CachingAllocator allocator = unlimited();
  allocator.free(allocator.allocate(60 * kOneMib));
  const auto first = allocator.allocate(20 * kOneMib);
  const auto second = allocator.allocate(20 * kOneMib);
  const auto third = allocator.allocate(20 * kOneMib);
  allocator.free(first);
  allocator.free(third);
  allocator.free(second);
  allocator.allocate(60 * kOneMib);
  EXPECT_EQ(allocator.reserved(), 60 * kOneMib);
}

// At most 1 MiB of a large block stays attached to a tensor that is a little smaller.
TEST(CachingAllocator, ASmallRestIsNotSplitOff) {
  CachingAllocator allocator = unlimited();
  allocator.allocate(19 * kOneMib + 1);
  EXPECT_EQ(allocator.allocated(), 20 * kOneMib);
  allocator.allocate(18 * kOneMib + 1);
  EXPECT_EQ(allocator.allocated(), 38 * kOneMib + 512);
}

TEST(CachingAllocator, StreamsAndGraphsDoNotShare) {
  CachingAllocator allocator = unlimited();
  allocator.free(allocator.allocate(64 * kOneMib));
  allocator.enter(Place::side_stream);
  allocator.free(allocator.allocate(32 * kOneMib));
  EXPECT_EQ(allocator.reserved(), 96 * kOneMib);
  allocator.release_cached();
  EXPECT_EQ(allocator.reserved(), 0U);
  allocator.enter(Place::graph_pool);
  allocator.free(allocator.allocate(32 * kOneMib));
  allocator.release_cached();
  EXPECT_EQ(allocator.reserved(), 32 * kOneMib);
  EXPECT_EQ(allocator.reserved_in(Place::graph_pool), 32 * kOneMib);
  EXPECT_EQ(allocator.reserved_in(Place::side_stream), 0U);
}

TEST(CachingAllocator, FreeSegmentsAreReturnedNearTheLimit) {
  CachingAllocator allocator(100 * kOneMib);
  allocator.free(allocator.allocate(64 * kOneMib));
  allocator.allocate(80 * kOneMib);
  EXPECT_FALSE(allocator.ran_out());
  EXPECT_EQ(allocator.reserved(), 80 * kOneMib);
  allocator.allocate(40 * kOneMib);
  EXPECT_TRUE(allocator.ran_out());
}

}  // namespace
}  // namespace llmprof::fit
