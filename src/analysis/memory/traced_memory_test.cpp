#include "analysis/memory/traced_memory.h"

#include <gtest/gtest.h>

#include <string>

#include "trace/append.h"
#include "trace/builder.h"

namespace llmprof::analysis {
namespace {

using profile::MemoryMaker;

// One process with a thread, and an allocator that knows its totals.
class ReportedMemory {
 public:
  explicit ReportedMemory(uint64_t allocated_before = 0) : allocated_(allocated_before) {
    builder_.begin_capture("trace.json", trace::kPyTorchTrace, "PyTorch profiler");
    process_ = builder_.process(1, 1);
    thread_ = builder_.thread(process_, 2, 2);
  }

  void change(Nanoseconds time, uint64_t address, int64_t bytes, int64_t unexplained = 0) {
    allocated_ += static_cast<uint64_t>(bytes + unexplained);
    trace::add_row(builder_.trace().tensor_memory, time, thread_, 0U, address, bytes, allocated_,
                   uint64_t{2097152});
  }
  void call(Nanoseconds start, Nanoseconds end, std::string_view name) {
    trace::add_row(builder_.trace().operators, start, end, thread_, builder_.string(name),
                   uint64_t{0});
  }
  void annotate(Nanoseconds start, Nanoseconds end, std::string_view name) {
    trace::add_row(builder_.trace().ranges, start, end, thread_, trace::StringId(),
                   builder_.string(name), trace::RangeKind::annotation);
  }

  profile::Memory memory() {
    profile::Memory memory;
    const trace::Trace trace = std::move(builder_).freeze();
    add_traced_memory(trace, memory, diagnostics_);
    return memory;
  }
  [[nodiscard]] const Diagnostics& diagnostics() const { return diagnostics_; }

 private:
  trace::TraceBuilder builder_;
  trace::ProcessId process_;
  trace::ThreadId thread_;
  uint64_t allocated_;
  Diagnostics diagnostics_;
};

TEST(TracedMemory, WithoutReportsThereIsNothing) {
  EXPECT_TRUE(ReportedMemory().memory().snapshots.empty());
}

TEST(TracedMemory, APeakBeforeTheFirstEventIsKnown) {
  ReportedMemory reported(4096);
  reported.change(10, 0x1000, -1024);
  reported.change(20, 0x2000, 512);
  const profile::Memory memory = reported.memory();
  ASSERT_EQ(memory.devices.size(), 1U);
  const profile::MemoryDevice& device = memory.devices[0];
  ASSERT_TRUE(device.peak);
  EXPECT_EQ(device.peak->allocated.value, 4096);
  EXPECT_FALSE(device.peak->time);
  EXPECT_FALSE(device.peak->event);
  EXPECT_EQ(device.existed_before, 1U);
  EXPECT_EQ(device.reserved_peak->event, 0U);
  // At the peak nothing recorded was there; at the end, 512 bytes.
  ASSERT_EQ(memory.stacks.size(), 2U);
  EXPECT_EQ(memory.stacks[0].made, MemoryMaker::before_trace);
  EXPECT_EQ(memory.stacks[0].at_peak->value, 4096);
  EXPECT_EQ(memory.stacks[0].now.value, 3072);
  EXPECT_EQ(memory.stacks[1].made, MemoryMaker::no_operator);
  EXPECT_EQ(memory.stacks[1].now.value, 512);
  EXPECT_TRUE(reported.diagnostics().items().empty());
}

TEST(TracedMemory, CallsAreNamedInnermostFirst) {
  ReportedMemory reported;
  reported.annotate(0, 1000, "ProfilerStep#1");
  reported.annotate(0, 100, "decode");
  reported.call(10, 50, "aten::linear");
  reported.call(20, 40, "aten::addmm");
  reported.change(30, 0x1000, 512);
  reported.change(45, 0x2000, 1024);
  reported.change(60, 0x3000, 2048);
  reported.change(200, 0x4000, 4096);
  const profile::Memory memory = reported.memory();
  ASSERT_EQ(memory.stacks.size(), 4U);
  EXPECT_EQ(memory.stacks[0].made, MemoryMaker::no_operator);
  EXPECT_EQ(memory.stacks[1].frames, std::vector<std::string>{"decode"});
  EXPECT_EQ(memory.stacks[2].frames, (std::vector<std::string>{"aten::linear", "decode"}));
  EXPECT_EQ(memory.stacks[3].frames,
            (std::vector<std::string>{"aten::addmm", "aten::linear", "decode"}));
  EXPECT_EQ(memory.stacks[3].place, "aten::addmm");
}

TEST(TracedMemory, ContradictionsAreCounted) {
  ReportedMemory reported;
  reported.change(10, 0x1000, 512);
  reported.change(20, 0x1000, 512);  // allocated twice
  reported.change(30, 0x1000, -512);
  reported.change(40, 0x1000, -512);       // freed twice
  reported.change(50, 0x2000, 512, 1024);  // a total that does not follow
  const profile::Memory memory = reported.memory();
  EXPECT_EQ(memory.devices.at(0).contradicting_events, 3U);
  ASSERT_EQ(reported.diagnostics().items().size(), 1U);
  EXPECT_EQ(reported.diagnostics().items()[0].code, "memory_trace_contradicts");
  EXPECT_EQ(reported.diagnostics().items()[0].count, 3U);
}

// Of 30 operators, those that hold most are listed; the sum of all rows is the peak without them.
TEST(TracedMemory, TheLargestMakersAreListed) {
  ReportedMemory reported;
  for (int64_t i = 0; i < 30; ++i) {
    const Nanoseconds start = i * 100;
    reported.call(start, start + 50, "op" + std::to_string(i));
    reported.change(start + 10, 0x1000 + static_cast<uint64_t>(i) * 0x1000, 512 * (i + 1));
  }
  const profile::Memory memory = reported.memory();
  ASSERT_EQ(memory.stacks.size(), 20U);
  EXPECT_EQ(memory.stacks.front().place, "op29");
  EXPECT_EQ(memory.stacks.back().place, "op10");
}

}  // namespace
}  // namespace llmprof::analysis
