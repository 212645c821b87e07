#include "analysis/memory/find_memory.h"

#include <gtest/gtest.h>

#include "trace/append.h"
#include "trace/requests.h"

namespace llmprof::analysis {
namespace {

using trace::AllocatorAction;
using trace::AllocatorState;

constexpr uint64_t kMiB = uint64_t{1} << 20U;

// One segment of 4 MiB at 0x1000000 with a block of 1 MiB in use, 100 bytes less requested.
trace::Trace memory_trace() {
  trace::Trace trace;
  trace::Capture capture;
  capture.path = "snapshot.pickle";
  trace.captures.push_back(std::move(capture));
  trace::AllocatorSnapshot snapshot;
  snapshot.capture = trace::CaptureId(0);
  snapshot.streams = {0};
  snapshot.pools = {{}};
  trace::AllocatorSegment segment;
  segment.address = 0x1000000;
  segment.size = 4 * kMiB;
  segment.allocated = kMiB;
  segment.active = kMiB;
  segment.requested = kMiB - 100;
  segment.is_large = true;
  segment.blocks = 2;
  snapshot.segments.push_back(segment);
  snapshot.blocks.push_back({0x1000000, kMiB, kMiB - 100, AllocatorState::active, 0});
  snapshot.blocks.push_back({0x1000000 + kMiB, 3 * kMiB, 0, AllocatorState::inactive, 0});
  trace.allocator_snapshots.push_back(std::move(snapshot));
  return trace;
}

void add_event(trace::Trace& trace, AllocatorAction action, uint64_t address, uint64_t size) {
  trace::AllocatorSnapshot& snapshot = trace.allocator_snapshots[0];
  const auto row = static_cast<int64_t>(snapshot.events.rows());
  trace::add_row(snapshot.events, action, address, size, Nanoseconds{1'000'000} * (row + 1), 0U, 0U,
                 0U);
  snapshot.ranges = {{0, 0, static_cast<uint32_t>(row + 1)}};
}

profile::Memory memory_of(const trace::Trace& trace) {
  const EngineRules engines;
  Diagnostics diagnostics;
  const auto memory = find_memory(trace, {engines}, diagnostics);
  EXPECT_TRUE(memory);
  return memory.value_or(profile::Memory());
}

TEST(FindMemory, WithoutEventsThereIsNoPeak) {
  const profile::Memory memory = memory_of(memory_trace());
  ASSERT_EQ(memory.devices.size(), 1U);
  const profile::MemoryDevice& device = memory.devices[0];
  EXPECT_EQ(device.device, "cuda:0");
  EXPECT_EQ(device.reserved.value, 4.0 * kMiB);
  EXPECT_EQ(device.rounding->value, 100);
  EXPECT_EQ(device.inactive->value, 3.0 * kMiB);
  EXPECT_EQ(device.inactive_share->value, 0.75);
  EXPECT_EQ(device.largest_free_block->value, 3.0 * kMiB);
  EXPECT_FALSE(device.peak);
  EXPECT_TRUE(memory.timeline.empty());
}

TEST(FindMemory, NothingIsNone) {
  Diagnostics diagnostics;
  EXPECT_FALSE(find_memory(trace::Trace(), {EngineRules()}, diagnostics));
  EXPECT_TRUE(diagnostics.items().empty());
}

// The ring lost how this block was made, and a whole allocation before the first event.
TEST(FindMemory, LevelsCountBackFromTheSnapshot) {
  trace::Trace trace = memory_trace();
  add_event(trace, AllocatorAction::free_requested, 0x1000000 + kMiB, 2 * kMiB);
  add_event(trace, AllocatorAction::free_completed, 0x1000000 + kMiB, 2 * kMiB);
  add_event(trace, AllocatorAction::segment_free, 0x9000000, 20 * kMiB);
  const profile::Memory memory = memory_of(trace);
  const profile::MemoryDevice& device = memory.devices.at(0);
  EXPECT_EQ(device.existed_before, 2U);
  ASSERT_TRUE(device.peak);
  EXPECT_FALSE(device.peak->event);  // before the first event
  EXPECT_EQ(device.peak->active->value, 3.0 * kMiB - 100);
  EXPECT_EQ(device.peak->reserved.value, 24.0 * kMiB);
  ASSERT_EQ(memory.timeline.size(), 4U);
  EXPECT_EQ(memory.timeline[1].allocated.value, 1.0 * kMiB - 100);
  EXPECT_EQ(memory.timeline[1].active->value, 3.0 * kMiB - 100);
  EXPECT_EQ(memory.timeline[3].reserved.value, 4.0 * kMiB);
  EXPECT_EQ(memory.timeline[3].active->value, 1.0 * kMiB - 100);
}

TEST(FindMemory, ContradictionsAreCounted) {
  trace::Trace trace = memory_trace();
  add_event(trace, AllocatorAction::alloc, 0x1000000 + 2 * kMiB, 1000);
  add_event(trace, AllocatorAction::alloc, 0x1000000 + 2 * kMiB, 2000);  // without a free
  add_event(trace, AllocatorAction::free_completed, 0x1000000 + 2 * kMiB, 2000);
  add_event(trace, AllocatorAction::free_completed, 0x1000000 + 2 * kMiB, 2000);  // again
  add_event(trace, AllocatorAction::alloc, 0x1000000 + 3 * kMiB, 10);  // not in the snapshot
  const EngineRules engines;
  Diagnostics diagnostics;
  const auto memory = find_memory(trace, {engines}, diagnostics);
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->devices.at(0).contradicting_events, 3U);
  EXPECT_TRUE(diagnostics.has("memory_snapshot_contradicts"));
}

TEST(FindMemory, EventSizesAreRecognized) {
  trace::Trace trace = memory_trace();
  add_event(trace, AllocatorAction::alloc, 0x1000000, kMiB - 100);
  EXPECT_EQ(memory_of(trace).devices.at(0).event_size, profile::MemoryEventSize::requested);
  trace.allocator_snapshots[0].events.size[0] = kMiB;
  EXPECT_EQ(memory_of(trace).devices.at(0).event_size, profile::MemoryEventSize::rounded);
  trace.allocator_snapshots[0].events.size[0] = 5;
  EXPECT_EQ(memory_of(trace).devices.at(0).event_size, profile::MemoryEventSize::unknown);
}

// 3 MiB are free, 2.5 MiB more on the device.
TEST(FindMemory, CausesOfFailures) {
  const struct {
    uint64_t size;
    uint64_t device_free;
    profile::OutOfMemoryCause cause;
    uint64_t missing;
  } cases[] = {
      {5 * kMiB, 2 * kMiB + kMiB / 2, profile::OutOfMemoryCause::fragmentation, 2 * kMiB},
      {50 * kMiB, 2 * kMiB, profile::OutOfMemoryCause::size, 47 * kMiB},
      {2 * kMiB, 0, profile::OutOfMemoryCause::not_known, 0},
      // A small request cannot use a large segment.
      {kMiB / 2, 0, profile::OutOfMemoryCause::other_pools, kMiB / 2},
  };
  for (const auto& each : cases) {
    trace::Trace trace = memory_trace();
    add_event(trace, AllocatorAction::out_of_memory, each.device_free, each.size);
    const profile::Memory memory = memory_of(trace);
    ASSERT_EQ(memory.out_of_memory.size(), 1U);
    const profile::OutOfMemory& failed = memory.out_of_memory[0];
    EXPECT_EQ(failed.cause, each.cause) << each.size;
    EXPECT_EQ(failed.missing.value_or(profile::Bytes()).value, static_cast<double>(each.missing));
    EXPECT_EQ(failed.reserved.value, 4.0 * kMiB);
    EXPECT_EQ(failed.free_same.value + failed.free_other.value, 3.0 * kMiB);
  }
}

}  // namespace
}  // namespace llmprof::analysis
