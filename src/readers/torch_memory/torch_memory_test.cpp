#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "readers/shared/reader.h"
#include "testing/shared_captures.h"
#include "testing/temporary_folder.h"

// Fixtures are written by tests/data/torch_memory/make_snapshots.py.
namespace llmprof::readers {
namespace {

using trace::AllocatorAction;
using trace::AllocatorSnapshot;

std::filesystem::path snapshot_fixture(std::string_view name) {
  return testing::test_data("torch_memory") / name;
}

trace::Trace read_snapshot_file(const std::filesystem::path& path) {
  trace::TraceBuilder builder;
  const auto done = kTorchMemoryReader.read(path, builder);
  EXPECT_TRUE(done) << done.error().message;
  return std::move(builder).freeze();
}

std::string refusal_of_snapshot(std::string_view content) {
  const testing::TemporaryFolder folder;
  trace::TraceBuilder builder;
  const auto done = kTorchMemoryReader.read(folder.write("snapshot", content), builder);
  EXPECT_FALSE(done);
  EXPECT_TRUE(builder.trace().captures.empty());
  return done ? std::string() : done.error().message;
}

uint64_t reserved_of(const AllocatorSnapshot& snapshot) {
  uint64_t sum = 0;
  for (const trace::AllocatorSegment& segment : snapshot.segments) sum += segment.size;
  return sum;
}

TEST(TorchMemory, ReadsSegmentsBlocksAndEvents) {
  const trace::Trace trace = read_snapshot_file(snapshot_fixture("too_large_protocol2.pickle"));
  ASSERT_EQ(trace.allocator_snapshots.size(), 1U);
  EXPECT_EQ(trace.captures.at(0).format, "PyTorch memory snapshot");
  const AllocatorSnapshot& snapshot = trace.allocator_snapshots[0];
  EXPECT_EQ(reserved_of(snapshot), 400UL << 20U);
  ASSERT_EQ(snapshot.events.rows(), 3U);
  const std::vector<AllocatorAction> expected = {
      AllocatorAction::segment_alloc, AllocatorAction::alloc, AllocatorAction::out_of_memory};
  EXPECT_EQ(snapshot.events.action, expected);
  EXPECT_EQ(snapshot.events.size.back(), 600UL << 20U);
  EXPECT_EQ(snapshot.events.address.back(), 112UL << 20U);  // free on the device
  EXPECT_EQ(snapshot.overflowed, false);
  ASSERT_EQ(snapshot.ranges.size(), 1U);
  EXPECT_EQ(snapshot.ranges[0].count, 3U);
}

TEST(TorchMemory, SharesStacksAndShortensPaths) {
  const trace::Trace trace = read_snapshot_file(snapshot_fixture("decode_protocol4.pickle"));
  const AllocatorSnapshot& snapshot = trace.allocator_snapshots.at(0);
  EXPECT_EQ(snapshot.stacks.size(), 5U);  // none, weights, cache, activations, release
  for (const trace::AllocatorFrame& frame : snapshot.stacks.frames.values()) {
    EXPECT_EQ(trace.strings[frame.file].find("someone"), std::string_view::npos);
  }
  for (const auto& [name, value] : snapshot.settings) EXPECT_NE(name, "API_TOKEN");
}

TEST(TorchMemory, ReadsWhatTheJitPicklerWrites) {
  const trace::Trace trace = read_snapshot_file(snapshot_fixture("held_elsewhere_jit.pickle"));
  const AllocatorSnapshot& snapshot = trace.allocator_snapshots.at(0);
  EXPECT_EQ(reserved_of(snapshot), 360UL << 20U);
  EXPECT_EQ(std::ranges::count_if(
                snapshot.segments,
                [](const auto& segment) { return segment.pool == trace::AllocatorPool{0, 1}; }),
            1);
}

TEST(TorchMemory, IsRecognizedByContent) {
  for (const char* name : {"decode_protocol4.pickle", "fragmented_protocol5.pickle",
                           "too_large_protocol2.pickle", "held_elsewhere_jit.pickle"}) {
    const std::string content = testing::file_bytes(snapshot_fixture(name));
    EXPECT_EQ(find_reader(content.substr(0, kHeadBytes)), &kTorchMemoryReader) << name;
  }
}

TEST(TorchMemory, RefusesEveryTruncationWithItsOffset) {
  for (const char* name : {"too_large_protocol2.pickle", "held_elsewhere_jit.pickle"}) {
    const std::string whole = testing::file_bytes(snapshot_fixture(name));
    for (size_t length = 0; length < whole.size(); ++length) {
      const std::string why = refusal_of_snapshot(std::string_view(whole).substr(0, length));
      EXPECT_NE(why.find("byte "), std::string::npos) << length << ": " << why;
    }
  }
}

TEST(TorchMemory, RefusesClassesCallsAndLoops) {
  const auto refusal = [](std::string_view name) {
    return refusal_of_snapshot(testing::file_bytes(snapshot_fixture(name)));
  };
  EXPECT_NE(refusal("calls_a_function.pickle").find("STACK_GLOBAL"), std::string::npos);
  EXPECT_NE(refusal("contains_itself.pickle").find("contains itself"), std::string::npos);
  EXPECT_NE(refusal("billion_laughs.pickle").find("device_traces"), std::string::npos);
}

TEST(TorchMemory, RefusesWrongOpcodesWithTheirOffset) {
  const struct {
    std::string_view content;
    std::string_view why;
  } cases[] = {
      {"\x80\x04(u.", "byte 3: an opcode needs a value"},
      {"\x80\x04u.", "byte 2: an opcode needs a mark"},
      {"\x80\x04]}a.", "not a dictionary"},
      {"\x80\x04K\x01K\x02"
       "a.",
       "byte 6: it appends to something"},
      {"\x80\x04}(K\x01u.", "byte 6: a key of a dictionary has no value"},
      {"\x80\x04h\x05.", "byte 2: memo 5 does not exist"},
      {"\x80\x04]q\x07.", "byte 3: memo 7 is written out of order"},
      {"\x80\x09}.", "protocol 2 to 5"},
      {"\x80\x04}\xff.", "byte 3: the opcode 0xff"},
  };
  for (const auto& each : cases) {
    EXPECT_NE(refusal_of_snapshot(each.content).find(each.why), std::string::npos)
        << refusal_of_snapshot(each.content) << " instead of " << each.why;
  }
}

}  // namespace
}  // namespace llmprof::readers
