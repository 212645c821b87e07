#include "analysis/timeline/timeline.h"

#include <gtest/gtest.h>

#include "trace/builder.h"

namespace llmprof::analysis {
namespace {

using trace::MemoryPlace;

class CopiesTest : public ::testing::Test {
 protected:
  CopiesTest() { builder_.begin_capture({}); }

  struct Copy {
    std::string_view direction;
    MemoryPlace from = MemoryPlace::unknown;
    MemoryPlace to = MemoryPlace::unknown;
    uint64_t bytes = 0;
    uint32_t device = 0;
  };
  void add(Nanoseconds start, Nanoseconds end, const Copy& copy,
           trace::MemoryKind kind = trace::MemoryKind::copy) {
    trace::MemoryOperationTable& memory = builder_.trace().memory_operations;
    memory.start.push_back(start);
    memory.end.push_back(end);
    memory.bytes.push_back(copy.bytes);
    memory.detail.push_back(copy.direction.empty() ? trace::StringId()
                                                   : builder_.string(copy.direction));
    memory.queue.push_back(
        builder_.queue({builder_.process(1, 1), builder_.device(copy.device), 0, 7}));
    memory.correlation.push_back(0);
    memory.kind.push_back(kind);
    memory.from.push_back(copy.from);
    memory.to.push_back(copy.to);
  }
  std::vector<profile::Copies> found() { return find_copies(std::move(builder_).freeze()); }

 private:
  trace::TraceBuilder builder_;
};

TEST_F(CopiesTest, AreSummedByDeviceDirectionAndMemory) {
  add(0, 10, {"Host-to-Device", MemoryPlace::pageable, MemoryPlace::device, 4000});
  add(10, 12, {"Host-to-Device", MemoryPlace::pinned, MemoryPlace::device, 4000});
  add(20, 50, {"Host-to-Device", MemoryPlace::pageable, MemoryPlace::device, 1000});
  add(60, 64, {"Host-to-Device", MemoryPlace::pageable, MemoryPlace::device, 2000});
  add(70, 75, {"Device-to-Host", MemoryPlace::device, MemoryPlace::pageable, 8, 1});
  const std::vector<profile::Copies> rows = found();
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].direction, "Host-to-Device");
  EXPECT_EQ(rows[0].from, profile::MemoryPlace::pageable);
  EXPECT_EQ(rows[0].count, 3U);
  EXPECT_EQ(rows[0].total, profile::to_milliseconds(Nanoseconds{44}));
  EXPECT_EQ(rows[0].bytes->value, 7000);
  EXPECT_EQ(rows[0].min_bytes->value, 1000);
  EXPECT_EQ(rows[0].p50_bytes->value, 2000);
  EXPECT_EQ(rows[0].max_bytes->value, 4000);
  EXPECT_EQ(rows[1].from, profile::MemoryPlace::pinned);
  EXPECT_EQ(rows[1].total, profile::to_milliseconds(Nanoseconds{2}));
  EXPECT_EQ(rows[2].device, "cuda:1");
  EXPECT_EQ(rows[2].direction, "Device-to-Host");
}

TEST_F(CopiesTest, WithoutSizeCountInTimeAlone) {
  add(0, 10, {"", MemoryPlace::unknown, MemoryPlace::unknown, 0});
  add(10, 14, {"", MemoryPlace::unknown, MemoryPlace::unknown, 64});
  add(20, 23, {"fill", MemoryPlace::unknown, MemoryPlace::device, 256}, trace::MemoryKind::set);
  const std::vector<profile::Copies> rows = found();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].direction, "copy");
  EXPECT_EQ(rows[0].count, 2U);
  EXPECT_EQ(rows[0].without_size, 1U);
  EXPECT_EQ(rows[0].total, profile::to_milliseconds(Nanoseconds{14}));
  EXPECT_DOUBLE_EQ(rows[0].bytes_per_s->value, 64 / 4e-9);
  EXPECT_EQ(rows[1].direction, "fill");
  EXPECT_EQ(rows[1].to, profile::MemoryPlace::device);
}

}  // namespace
}  // namespace llmprof::analysis
