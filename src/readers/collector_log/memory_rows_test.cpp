// Allocations of GPU memory, and readings of it, in the collector's log.
#include <gtest/gtest.h>

#include "testing/readers/collector_log.h"
#include "testing/readers/read_collector_log.h"

namespace llmprof::readers {
namespace {

using testing::count_of;
using testing::read_or_fail;
using testing::TestLog;
using trace::AllocationKind;
using trace::MemoryAction;
using wire::RecordType;

constexpr uint64_t kMiB = 1U << 20U;

wire::MemoryEvent allocation(int64_t time, uint64_t address, uint64_t bytes) {
  wire::MemoryEvent event{};
  event.time = time;
  event.action = wire::MemoryAction::allocation;
  event.kind = 3;
  event.address = address;
  event.bytes = bytes;
  return event;
}

wire::MemoryReading reading(int64_t time, uint64_t used) {
  return {time,
          1,
          wire::MemoryReadingMoment::running,
          1000 * kMiB,
          900 * kMiB - used,
          used,
          100 * kMiB,
          40 * kMiB,
          wire::kUnknownBytes};
}

TEST(MemoryRows, AreReadInTheOrderOfTime) {
  TestLog log;
  log.add(RecordType::clean_end, wire::CleanEnd{9000, 0, 2});
  log.chunk(wire::ChunkKind::device, 0);
  wire::MemoryEvent pooled = allocation(300, 0x3000, 64);
  pooled.owner = 0x5000;
  pooled.pool_bytes = 32 * kMiB;
  pooled.pool_used_bytes = 64;
  log.add(RecordType::memory_event, pooled);
  wire::MemoryEvent mapped{};
  mapped.time = 200;
  mapped.action = wire::MemoryAction::map;
  mapped.address = 0x7000;
  mapped.bytes = 2 * kMiB;
  mapped.owner = 77;
  log.add(RecordType::memory_event, mapped);
  log.add(RecordType::memory_reading, reading(400, 600 * kMiB));
  log.add(RecordType::memory_reading, reading(100, 500 * kMiB));
  log.add(RecordType::cupti_memory, wire::CuptiMemory{3'200'000, 3});
  const trace::Trace trace = read_or_fail(log.bytes());
  const trace::MemoryEventTable& events = trace.memory_events;
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events.time, (std::vector<Nanoseconds>{200, 300}));
  EXPECT_EQ(events.action,
            (std::vector<MemoryAction>{MemoryAction::map, MemoryAction::allocation}));
  EXPECT_EQ(events.kind,
            (std::vector<AllocationKind>{AllocationKind::unknown, AllocationKind::device}));
  EXPECT_EQ(events.owner, (std::vector<uint64_t>{77, 0x5000}));
  EXPECT_EQ(events.pool_bytes, (std::vector<uint64_t>{0, 32 * kMiB}));
  const trace::MemoryReadingTable& readings = trace.memory_readings;
  ASSERT_EQ(readings.size(), 2U);
  EXPECT_EQ(readings.used, (std::vector<uint64_t>{500 * kMiB, 600 * kMiB}));
  EXPECT_EQ(readings.own[0], 40 * kMiB);
  EXPECT_EQ(readings.others[0], trace::MemoryReadingTable::kUnknown);
  EXPECT_EQ(trace.devices[readings.device[0].index()].ordinal, 1U);
  ASSERT_EQ(trace.profiler_memory.size(), 1U);
  EXPECT_EQ(trace.profiler_memory[0].bytes, 9'600'000U);
}

TEST(MemoryRows, HaveTheRangeOfTheCallingThread) {
  TestLog log;
  log.add(RecordType::clean_end, wire::CleanEnd{9000, 0, 3});
  log.thread_chunk(1, 70);
  log.add_text(3, "load");
  log.add(RecordType::range_push, wire::RangePush{10, 3, 0, 0, 0});
  log.add(RecordType::allocation_call, wire::AllocationCall{5, 0});
  log.add(RecordType::range_pop, wire::RangePop{90, 0, 0});
  log.add(RecordType::allocation_call, wire::AllocationCall{6, 0});
  log.chunk(wire::ChunkKind::device, 0);
  for (const uint32_t correlation : {5U, 6U, 7U}) {
    wire::MemoryEvent event = allocation(correlation, 0x1000 * correlation, 64);
    event.correlation = correlation;
    log.add(RecordType::memory_event, event);
  }
  const trace::Trace trace = read_or_fail(log.bytes());
  ASSERT_EQ(trace.memory_events.size(), 3U);
  const trace::RangeRow range = trace.memory_events.range[0];
  ASSERT_TRUE(range.valid());
  EXPECT_EQ(trace.strings[trace.ranges.text[range.index()]], "load");
  EXPECT_FALSE(trace.memory_events.range[1].valid());
  EXPECT_FALSE(trace.memory_events.range[2].valid());
}

// CUPTI gives these the correlation of an earlier call.
TEST(MemoryRows, OfCallsThatAreNotFollowedHaveNoRange) {
  TestLog log;
  log.add(RecordType::clean_end, wire::CleanEnd{9000, 0, 3});
  log.thread_chunk(1, 70);
  log.add_text(3, "load");
  log.add(RecordType::range_push, wire::RangePush{10, 3, 0, 0, 0});
  log.add(RecordType::allocation_call, wire::AllocationCall{5, 0});
  log.chunk(wire::ChunkKind::device, 0);
  const auto add = [&](auto change) {
    wire::MemoryEvent event = allocation(5, 0x1000, 64);
    event.correlation = 5;
    change(event);
    log.add(RecordType::memory_event, event);
  };
  add([](wire::MemoryEvent&) {});
  add([](wire::MemoryEvent& event) { event.owner = 0x5000; });  // of a pool
  add([](wire::MemoryEvent& event) { event.kind = 2; });        // pinned
  add([](wire::MemoryEvent& event) { event.action = wire::MemoryAction::release; });
  const trace::Trace trace = read_or_fail(log.bytes());
  std::vector<bool> valid;
  for (const trace::RangeRow range : trace.memory_events.range) valid.push_back(range.valid());
  EXPECT_EQ(valid, (std::vector<bool>{true, false, false, false}));
}

TEST(MemoryRows, ImpossibleOnesAreLeftOutAndCounted) {
  TestLog log;
  log.add(RecordType::clean_end, wire::CleanEnd{9000, 0, 2});
  log.chunk(wire::ChunkKind::device, 0);
  wire::MemoryEvent event = allocation(1, 0x1000, 64);
  event.action = static_cast<wire::MemoryAction>(13);
  log.add(RecordType::memory_event, event);
  event = allocation(1, 0x1000, 64);
  event.kind = 8;
  log.add(RecordType::memory_event, event);
  log.add(RecordType::memory_event, allocation(1, 0x1000, uint64_t{1} << 50U));
  log.add(RecordType::memory_event, allocation(-1, 0x1000, 64));
  wire::MemoryReading impossible = reading(1, 0);
  impossible.used_bytes = 2000 * kMiB;  // more than the total
  log.add(RecordType::memory_reading, impossible);
  log.add(RecordType::cupti_memory, wire::CuptiMemory{UINT64_MAX, 3});
  const trace::Trace trace = read_or_fail(log.bytes());
  EXPECT_EQ(trace.memory_events.size(), 0U);
  EXPECT_EQ(trace.memory_readings.size(), 0U);
  EXPECT_TRUE(trace.profiler_memory.empty());
  EXPECT_EQ(count_of(trace, "collector_log_bad_values"), 6U);
}

TEST(MemoryRows, AMissingRecordingSaysWhy) {
  TestLog log;
  log.add(RecordType::clean_end, wire::CleanEnd{9000, 0, 2});
  log.chunk(wire::ChunkKind::device, 0);
  log.add_text(3, "NVML was not found");
  log.add(RecordType::memory_off, wire::MemoryOff{1, 3, 0});
  const trace::Trace trace = read_or_fail(log.bytes());
  EXPECT_EQ(count_of(trace, "collector_memory_off"), 1U);
}

}  // namespace
}  // namespace llmprof::readers
