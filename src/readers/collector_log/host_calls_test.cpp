// Launches and waits noted by the launch interceptor.
#include <gtest/gtest.h>

#include "testing/readers/collector_log.h"
#include "testing/readers/read_collector_log.h"

namespace llmprof::readers {
namespace {

using testing::count_of;
using testing::read_or_fail;
using testing::TestLog;
using Kind = trace::HostCallTable::Kind;
using wire::HostCallKind;
using wire::RecordType;

constexpr uint64_t kFunction = 0x7F00'0000'1234;
constexpr uint64_t kGraph = 0xFFFF'8000'0000'0008;

void add_call(TestLog& log, const wire::HostCall& call) { log.add(RecordType::host_call, call); }

// A closed log with `chunks` chunks after this one.
TestLog closed_log(uint64_t chunks) {
  TestLog log;
  log.add(RecordType::clean_end, wire::CleanEnd{9000, 0, 1 + chunks});
  return log;
}

TEST(HostCalls, AreReadWithKindThreadAndHandle) {
  TestLog log = closed_log(2);
  log.thread_chunk(1, 70);
  add_call(log, {100, kFunction, 0, HostCallKind::kernel});
  add_call(log, {150, kGraph, 0, HostCallKind::graph});
  add_call(log, {200, 0, 40, HostCallKind::wait});
  log.thread_chunk(2, 80);
  add_call(log, {120, 5, 0, HostCallKind::kernel});
  add_call(log, {300, 0, UINT32_MAX, HostCallKind::wait});
  const trace::Trace trace = read_or_fail(log.bytes());
  // It contains nothing to analyze on its own, and nothing is wrong with it.
  ASSERT_EQ(trace.diagnostics.items().size(), 1U);
  EXPECT_EQ(count_of(trace, "collector_log_empty"), 1U);
  const trace::HostCallTable& calls = trace.host_calls;
  ASSERT_EQ(calls.size(), 5U);
  EXPECT_EQ(trace.launches.size(), 0U);  // only traced launches
  std::vector<uint64_t> tids;
  for (const trace::ThreadId thread : calls.thread)
    tids.push_back(trace.threads[thread.index()].tid);
  EXPECT_EQ(tids, (std::vector<uint64_t>{70, 70, 70, 80, 80}));
  EXPECT_EQ(calls.start, (std::vector<Nanoseconds>{100, 150, 200, 120, 300}));
  EXPECT_EQ(calls.end, (std::vector<Nanoseconds>{100, 150, 240, 120, 4'294'967'595}));
  EXPECT_EQ(calls.kind,
            (std::vector<Kind>{Kind::kernel, Kind::graph, Kind::wait, Kind::kernel, Kind::wait}));
  EXPECT_EQ(calls.handle, (std::vector<uint64_t>{kFunction, kGraph, 0, 5, 0}));
  EXPECT_FALSE(calls.of_driver);
}

// Recorded by driver callbacks, in a separate run.
TEST(HostCalls, OfTheDriverAreKnownAsSuch) {
  TestLog log = closed_log(1);
  log.thread_chunk(1, 70);
  add_call(log, {100, kFunction, 0, HostCallKind::driver_kernel});
  add_call(log, {150, kGraph, 0, HostCallKind::driver_graph});
  add_call(log, {200, 0, 40, HostCallKind::driver_wait});
  const trace::Trace trace = read_or_fail(log.bytes());
  EXPECT_EQ(trace.host_calls.kind, (std::vector<Kind>{Kind::kernel, Kind::graph, Kind::wait}));
  EXPECT_TRUE(trace.host_calls.of_driver);
}

TEST(HostCalls, ImpossibleOnesAreLeftOutAndCounted) {
  TestLog log = closed_log(1);
  log.thread_chunk(1, 70);
  add_call(log, {100, kFunction, 0, HostCallKind::kernel});
  add_call(log, {-1, kFunction, 0, HostCallKind::kernel});
  add_call(log, {INT64_MAX - 1, 0, 40, HostCallKind::wait});  // its end exceeds the largest time
  add_call(log, {110, kFunction, 0, static_cast<HostCallKind>(0)});
  add_call(log, {120, kFunction, 0, static_cast<HostCallKind>(7)});
  log.add_bytes(RecordType::host_call, std::string(16, 'k'));  // too short
  add_call(log, {130, kFunction, 0, HostCallKind::kernel});
  const trace::Trace trace = read_or_fail(log.bytes());
  EXPECT_EQ(trace.host_calls.start, (std::vector<Nanoseconds>{100, 130}));
  EXPECT_EQ(count_of(trace, "collector_log_bad_values"), 5U);
}

TEST(HostCalls, ADamagedOneCostsItselfAlone) {
  TestLog log = closed_log(1);
  log.thread_chunk(1, 70);
  add_call(log, {100, kFunction, 0, HostCallKind::kernel});
  const size_t place = log.size();
  add_call(log, {110, kGraph, 0, HostCallKind::graph});
  add_call(log, {120, 0, 40, HostCallKind::wait});
  for (size_t i = 0; i < wire::record_bytes<wire::HostCall>(); ++i) {
    std::string bytes = log.bytes();
    bytes[place + i] = static_cast<char>(bytes[place + i] ^ 0x40);
    const trace::Trace trace = read_or_fail(bytes);
    EXPECT_EQ(trace.host_calls.start, (std::vector<Nanoseconds>{100, 120})) << i;
    EXPECT_EQ(count_of(trace, "collector_log_damaged_records"), 1U) << i;
  }
}

}  // namespace
}  // namespace llmprof::readers
