#include "readers/shared/reader.h"

#include <gtest/gtest.h>

#include <random>

#include "testing/read_capture.h"
#include "testing/readers/collector_log.h"
#include "testing/readers/read_collector_log.h"
#include "testing/shared_captures.h"
#include "testing/temporary_folder.h"

namespace llmprof::readers {
namespace {

using testing::count_of;
using testing::read_bytes;
using testing::read_or_fail;
using testing::TestLog;
using wire::RecordType;

constexpr wire::StringKey kDomain = 1;
constexpr wire::StringKey kDecode = 2;
constexpr wire::StringKey kStep = 3;

void add_names(TestLog& log) {
  log.chunk(wire::ChunkKind::strings, 0);
  log.add_text(kDomain, "LLM");
  log.add_text(kDecode, "decode_all");
  log.add_text(kStep, "decode_step");
}
void push(TestLog& log, int64_t time, wire::StringKey name, uint32_t depth) {
  log.add(RecordType::range_push, wire::RangePush{time, name, kDomain, depth, 0});
}
void pop(TestLog& log, int64_t time, uint32_t depth) {
  log.add(RecordType::range_pop, wire::RangePop{time, kDomain, depth});
}
void close(TestLog& log) { log.add(RecordType::clean_end, wire::CleanEnd{9000, 0, 3}); }

// decode_all [10, 100] on thread 7, containing decode_step [20, 30] and [40, 50].
TestLog small_log() {
  TestLog log;
  close(log);
  log.thread_chunk(1, 7);
  push(log, 10, kDecode, 0);
  push(log, 20, kStep, 1);
  pop(log, 30, 1);
  push(log, 40, kStep, 1);
  log.add(RecordType::step, wire::Step{41, wire::StepKind::decode, 4, 8});
  log.add(RecordType::cpu_operator, wire::CpuOperator{42, 48, 600, 70, kStep, 0});
  pop(log, 50, 1);
  pop(log, 100, 0);
  add_names(log);
  return log;
}

void expect_small_log(const trace::Trace& trace) {
  ASSERT_EQ(trace.ranges.size(), 3U);
  EXPECT_EQ(trace.ranges.start, (std::vector<Nanoseconds>{10, 20, 40}));
  EXPECT_EQ(trace.ranges.end, (std::vector<Nanoseconds>{100, 30, 50}));
  EXPECT_EQ(trace.strings[trace.ranges.text[0]], "decode_all");
  EXPECT_EQ(trace.strings[trace.ranges.text[2]], "decode_step");
  EXPECT_EQ(trace.strings[trace.ranges.domain[1]], "LLM");
  ASSERT_EQ(trace.steps.size(), 1U);
  EXPECT_EQ(trace.steps.kind[0], trace::StepTable::Kind::decode);
  EXPECT_EQ(trace.steps.batch[0], 4U);
  EXPECT_EQ(trace.steps.tokens[0], 8U);
  ASSERT_EQ(trace.operators.size(), 1U);
  EXPECT_EQ(trace.operators.end[0] - trace.operators.start[0], 6);
  EXPECT_EQ(trace.operators.flops[0], 600U);
  EXPECT_EQ(trace.operators.bytes[0], 70U);
}

TEST(CollectorLog, ReadsWhatWasRecorded) {
  const trace::Trace trace = read_or_fail(small_log().bytes());
  expect_small_log(trace);
  EXPECT_TRUE(trace.diagnostics.items().empty());
  ASSERT_EQ(trace.processes.size(), 1U);
  EXPECT_EQ(trace.processes[0].pid, 4711U);
  EXPECT_EQ(trace.processes[0].name, "server");
  ASSERT_EQ(trace.threads.size(), 1U);
  EXPECT_EQ(trace.threads[0].tid, 7U);
  EXPECT_EQ(trace.threads[0].name, "worker");
  EXPECT_EQ(trace.captures[0].wall_clock_ns, 1'700'000'000'000'000'000);
  EXPECT_EQ(trace.captures[0].schema_version, "1.5");
}

TEST(CollectorLog, CollectivesAreOperatorsAndMore) {
  enum : wire::StringKey { kReduce = 1, kGroup, kMembers, kGemm, kLost };
  using Kind = wire::CollectiveKind;
  TestLog log;
  log.add(RecordType::clean_end, wire::CleanEnd{9000, 0, 1});
  log.thread_chunk(1, 70);
  log.add(RecordType::cpu_operator, wire::CpuOperator{10, 20, 600, 70, kGemm, 0});
  log.add(RecordType::collective,
          wire::Collective{20, 90, 4096, kReduce, kGroup, kMembers, Kind::all_reduce, 2, 0});
  log.add(RecordType::collective,
          wire::Collective{90, 95, 0, kReduce, 0, 0, static_cast<Kind>(12), 0, 0});
  // This one contains an operator: its time counts as the operator's.
  log.add(RecordType::cpu_operator, wire::CpuOperator{101, 109, 0, 0, kGemm, 0});
  log.add(RecordType::collective,
          wire::Collective{100, 110, 8, kReduce, kLost, 0, Kind::barrier, 0, 0});
  log.add(RecordType::collective,
          wire::Collective{20, 10, 8, kReduce, kGroup, 0, Kind::barrier, 0, 0});
  log.chunk(wire::ChunkKind::strings, 0);
  log.add_text(kReduce, "all_reduce");
  log.add_text(kGroup, "tp");
  log.add_text(kMembers, "0,1");
  log.add_text(kGemm, "gemm");
  const trace::Trace trace = read_or_fail(log.bytes());
  const trace::CollectiveTable& collectives = trace.collectives;
  ASSERT_EQ(collectives.size(), 3U);
  EXPECT_EQ(collectives.start, (std::vector<Nanoseconds>{20, 90, 100}));
  EXPECT_EQ(collectives.end, (std::vector<Nanoseconds>{90, 95, 110}));
  EXPECT_EQ(collectives.kind,
            (std::vector<CollectiveKind>{CollectiveKind::all_reduce, CollectiveKind::other,
                                         CollectiveKind::barrier}));
  EXPECT_EQ(collectives.bytes, (std::vector<uint64_t>{4096, 0, 8}));
  EXPECT_EQ(trace.strings[collectives.group[0]], "tp");
  EXPECT_EQ(trace.strings[collectives.members[0]], "0,1");
  EXPECT_EQ(collectives.group_size, (std::vector<uint32_t>{2, 0, 0}));
  EXPECT_FALSE(collectives.group[1].valid());
  EXPECT_FALSE(collectives.members[1].valid());
  EXPECT_FALSE(collectives.group[2].valid());
  EXPECT_EQ(collectives.sequence[0], trace::kNoSequence);
  EXPECT_EQ(collectives.correlation[2], 0U);
  // A row's kernel has its correlation and its times; its bytes are not memory traffic.
  ASSERT_EQ(trace.kernels.size(), 4U);
  for (const size_t row : {0U, 1U}) {
    const auto& correlations = trace.kernels.correlation;
    const auto kernel = static_cast<size_t>(
        std::find(correlations.begin(), correlations.end(), collectives.correlation[row]) -
        correlations.begin());
    ASSERT_LT(kernel, trace.kernels.size());
    EXPECT_EQ(trace.kernels.start[kernel], collectives.start[row]);
    EXPECT_EQ(trace.kernels.end[kernel], collectives.end[row]);
    EXPECT_EQ(trace.strings[trace.kernels.name[kernel]], "all_reduce");
    EXPECT_EQ(trace.kernels.bytes[kernel], 0U);
  }
  EXPECT_EQ(count_of(trace, "collector_log_bad_values"), 1U);
  EXPECT_EQ(count_of(trace, "collector_log_lost_names"), 1U);
  EXPECT_EQ(count_of(trace, "collector_log_outer_operators"), 1U);
}

TEST(CollectorLog, ThreadsHaveTheNamesThatTheProgramGaveThem) {
  enum : wire::StringKey { kSampler = 1, kLoader, kLost };
  TestLog log;
  log.add(RecordType::clean_end, wire::CleanEnd{9000, 0, 1});
  log.thread_chunk(1, 70);
  log.add(RecordType::thread_name, wire::ThreadName{80, kLoader});  // names another thread
  log.add(RecordType::thread_name,
          wire::ThreadName{99, kLoader});  // names a thread that recorded nothing
  log.thread_chunk(2, 80);
  log.thread_chunk(3, 90);  // ended, and its id was reused
  log.thread_chunk(4, 90);
  log.add(RecordType::thread_name, wire::ThreadName{90, kSampler});
  log.thread_chunk(5, 100);
  log.add(RecordType::thread_name, wire::ThreadName{100, kLost});
  log.chunk(wire::ChunkKind::strings, 0);
  log.add_text(kSampler, "a sampler of tokens, with a long name");
  log.add_text(kLoader, "loader");
  const trace::Trace trace = read_or_fail(log.bytes());
  std::vector<std::string> names;
  for (const trace::Thread& thread : trace.threads) names.push_back(thread.name);
  EXPECT_EQ(names, (std::vector<std::string>{"worker", "loader", "worker",
                                             "a sampler of tokens, with a long name", "worker"}));
  EXPECT_EQ(count_of(trace, "collector_log_lost_names"), 1U);
}

TEST(CollectorLog, FixturesOfTheRealCollector) {
  const auto closed = testing::read_capture(testing::test_data("collector_log/request.llmtrace"));
  ASSERT_TRUE(closed) << closed.error().message;
  EXPECT_EQ(closed->ranges.size(), 8U);
  EXPECT_EQ(closed->steps.size(), 5U);
  EXPECT_EQ(closed->operators.size(), 2U);
  EXPECT_EQ(closed->captures[0].host, "example");
  EXPECT_TRUE(closed->diagnostics.items().empty());
  const auto killed = testing::read_capture(testing::test_data("collector_log/killed.llmtrace.gz"));
  ASSERT_TRUE(killed) << killed.error().message;
  EXPECT_EQ(killed->ranges.size(), 10U);
  EXPECT_EQ(count_of(*killed, "collector_log_open_ranges"), 2U);
  EXPECT_EQ(count_of(*killed, "collector_log_not_closed"), 1U);
}

TEST(CollectorLog, SeveralLogsMakeOneTrace) {
  const testing::TemporaryFolder folder;
  TestLog other = small_log();
  other.header.process_id = 4712;
  trace::TraceBuilder builder;
  ASSERT_TRUE(kCollectorLogReader.read(folder.write("a", small_log().bytes()), builder));
  ASSERT_TRUE(kCollectorLogReader.read(folder.write("b", other.bytes()), builder));
  const trace::Trace trace = std::move(builder).freeze();
  ASSERT_EQ(trace.processes.size(), 2U);
  ASSERT_EQ(trace.ranges.size(), 6U);
  EXPECT_NE(trace.ranges.thread[0], trace.ranges.thread[3]);
  EXPECT_EQ(trace.ranges.text[0], trace.ranges.text[3]);
  EXPECT_EQ(trace.operators.flops, (std::vector<uint64_t>{600, 600}));
}

void add_operator(TestLog& log, int64_t start, int64_t end, uint64_t flops) {
  log.add(RecordType::cpu_operator, wire::CpuOperator{start, end, flops, 7 * flops, kStep, 0});
}

TEST(CollectorLog, InnermostOperatorsAreKernelsOfTheCpu) {
  TestLog log;
  close(log);
  log.thread_chunk(1, 7);
  add_operator(log, 10, 20, 1);
  add_operator(log, 20, 30, 2);
  add_operator(log, 10, 30, 3);  // contains both: recorded when it ends
  add_operator(log, 30, 30, 4);  // takes no time; touches the previous one
  add_operator(log, 40, 50, 5);
  add_operator(log, 40, 50, 6);  // of two with equal times, the later one contains the earlier
  add_operator(log, 60, 80, 8);
  add_operator(log, 70, 90, 9);  // overlaps without nesting: both are kernels
  log.thread_chunk(2, 8);
  add_operator(log, 12, 18, 10);  // on another thread: contained in none
  add_names(log);
  const trace::Trace trace = read_or_fail(log.bytes());
  EXPECT_EQ(trace.operators.size(), 9U);
  EXPECT_EQ(trace.kernels.flops, (std::vector<uint64_t>{1, 10, 2, 4, 5, 8, 9}));
  EXPECT_EQ(trace.kernels.bytes, (std::vector<uint64_t>{7, 70, 14, 28, 35, 56, 63}));
  EXPECT_EQ(trace.kernels.start, (std::vector<Nanoseconds>{10, 12, 20, 30, 40, 60, 70}));
  EXPECT_EQ(count_of(trace, "collector_log_outer_operators"), 2U);
  ASSERT_EQ(trace.devices.size(), 1U);
  EXPECT_EQ(trace.devices[0].kind, trace::DeviceKind::cpu);
  EXPECT_EQ(trace.queues.size(), 2U);  // one per thread
  for (size_t i = 0; i < trace.kernels.size(); ++i) {
    const trace::LaunchRow launch = trace.kernels.launch[i];
    ASSERT_TRUE(launch.valid());
    EXPECT_EQ(trace.launches.start[launch.index()], trace.kernels.start[i]);
    const uint64_t tid = trace.threads[trace.launches.thread[launch.index()].index()].tid;
    EXPECT_EQ(tid, i == 1 ? 8U : 7U);
  }
}

TEST(CollectorLog, OperatorsOfSeveralLogsKeepTheirLaunches) {
  const testing::TemporaryFolder folder;
  TestLog other = small_log();
  other.header.process_id = 4712;
  trace::TraceBuilder builder;
  ASSERT_TRUE(kCollectorLogReader.read(folder.write("a", small_log().bytes()), builder));
  ASSERT_TRUE(kCollectorLogReader.read(folder.write("b", other.bytes()), builder));
  const trace::Trace trace = std::move(builder).freeze();
  ASSERT_EQ(trace.kernels.size(), 2U);
  ASSERT_EQ(trace.devices.size(), 2U);
  for (size_t i = 0; i < 2; ++i) {
    const trace::ThreadId thread = trace.launches.thread[trace.kernels.launch[i].index()];
    EXPECT_EQ(trace.threads[thread.index()].process, trace.queues[trace.kernels.queue[i]].process);
  }
}

TEST(CollectorLog, AnyThreadEndsAStartedRange) {
  TestLog log;
  close(log);
  log.thread_chunk(2, 8);
  log.add(RecordType::range_end, wire::RangeEnd{60, 1});
  log.add(RecordType::range_end, wire::RangeEnd{70, 9});
  log.thread_chunk(1, 7);
  log.add(RecordType::range_start, wire::RangeStart{15, 1, kStep, kDomain});
  log.add(RecordType::range_start, wire::RangeStart{16, 2, kDecode, kDomain});
  add_names(log);
  const trace::Trace trace = read_or_fail(log.bytes());
  ASSERT_EQ(trace.ranges.size(), 2U);
  EXPECT_EQ(trace.ranges.end, (std::vector<Nanoseconds>{60, trace::kOpenEnd}));
  EXPECT_EQ(trace.ranges.kind[0], trace::RangeKind::start_end);
  EXPECT_EQ(count_of(trace, "collector_log_ends_without_start"), 1U);
  EXPECT_EQ(count_of(trace, "collector_log_open_ranges"), 1U);
}

TEST(CollectorLog, AnotherThreadGoesOnWithAChunk) {
  TestLog log;
  close(log);
  log.thread_chunk(1, 7);
  push(log, 10, kStep, 0);
  pop(log, 20, 0);
  log.add(RecordType::thread_info, wire::ThreadInfo{2, 7, "second"});
  push(log, 30, kStep, 0);
  pop(log, 40, 0);
  add_names(log);
  const trace::Trace trace = read_or_fail(log.bytes());
  ASSERT_EQ(trace.threads.size(), 2U);  // although the system gave them the same id
  EXPECT_EQ(trace.ranges.thread,
            (std::vector<trace::ThreadId>{trace::ThreadId(0), trace::ThreadId(1)}));
  EXPECT_EQ(trace.threads[1].name, "second");
}

// By depth: the pop of the first step is lost, then the push of the second.
TEST(CollectorLog, LostRecordsDoNotShiftTheRest) {
  TestLog log;
  close(log);
  log.thread_chunk(1, 7);
  push(log, 10, kDecode, 0);
  push(log, 20, kStep, 1);
  push(log, 40, kStep, 1);
  pop(log, 50, 1);
  pop(log, 70, 1);
  pop(log, 100, 0);
  add_names(log);
  const trace::Trace trace = read_or_fail(log.bytes());
  EXPECT_EQ(trace.ranges.end, (std::vector<Nanoseconds>{100, trace::kOpenEnd, 50}));
  EXPECT_EQ(count_of(trace, "collector_log_open_ranges"), 1U);
  EXPECT_EQ(count_of(trace, "collector_log_ends_without_start"), 1U);
}

TEST(CollectorLog, UnknownRecordsAreSkippedAndCounted) {
  TestLog log = small_log();
  log.add_bytes(static_cast<RecordType>(127), std::string(40, 'k'));
  log.add_bytes(static_cast<RecordType>(999), "");
  const trace::Trace trace = read_or_fail(log.bytes());
  expect_small_log(trace);
  EXPECT_EQ(count_of(trace, "collector_log_unknown_records"), 2U);
}

TEST(CollectorLog, LongerPayloadsOfANewerMinorVersionAreRead) {
  TestLog log;
  log.header.minor_version = 7;
  close(log);
  log.thread_chunk(1, 7);
  const wire::Mark mark = {5, kStep, kDomain};
  std::string payload(reinterpret_cast<const char*>(&mark), sizeof mark);
  log.add_bytes(RecordType::mark, payload + "a newer field...");
  add_names(log);
  const trace::Trace trace = read_or_fail(log.bytes());
  ASSERT_EQ(trace.ranges.size(), 1U);
  EXPECT_EQ(trace.ranges.start[0], 5);
  EXPECT_TRUE(trace.diagnostics.items().empty());
}

TEST(CollectorLog, RefusesWhatItCannotKnow) {
  TestLog other = small_log();
  other.header.major_version = 2;
  const auto newer = read_bytes(other.bytes());
  ASSERT_FALSE(newer);
  EXPECT_NE(newer.error().message.find("version 2.5"), std::string::npos);
  other = small_log();
  other.header.byte_order = wire::kOtherByteOrderMark;
  const auto swapped = read_bytes(other.bytes());
  ASSERT_FALSE(swapped);
  EXPECT_NE(swapped.error().message.find("byte order"), std::string::npos);
  const auto cut = read_bytes(small_log().bytes().substr(0, 100));
  ASSERT_FALSE(cut);
  EXPECT_NE(cut.error().message.find("truncated"), std::string::npos);
}

TEST(CollectorLog, SaysWhatTheProgramCouldNotWrite) {
  TestLog log;
  log.add(RecordType::dropped, wire::Dropped{10, 1});
  log.add(RecordType::dropped, wire::Dropped{20, 64});
  const trace::Trace killed = read_or_fail(log.bytes());
  EXPECT_EQ(count_of(killed, "collector_log_dropped"), 64U);
  EXPECT_EQ(count_of(killed, "collector_log_not_closed"), 1U);
  log.add(RecordType::clean_end, wire::CleanEnd{30, 100, 1});
  EXPECT_EQ(count_of(read_or_fail(log.bytes()), "collector_log_dropped"), 100U);
}

TEST(CollectorLog, ImpossibleValuesAreLeftOut) {
  TestLog log = small_log();
  log.thread_chunk(3, 9);
  log.add(RecordType::cpu_operator, wire::CpuOperator{50, 40, 0, 0, kStep, 0});
  push(log, -1, kStep, 0);
  push(log, 5, kStep, UINT32_MAX);
  log.add(RecordType::step, wire::Step{5, static_cast<wire::StepKind>(9), 1, 1});
  log.add_bytes(RecordType::mark, "");
  const trace::Trace trace = read_or_fail(log.bytes());
  expect_small_log(trace);
  EXPECT_EQ(count_of(trace, "collector_log_bad_values"), 5U);
}

TEST(CollectorLogDamage, ARecordThatWasBeingWritten) {
  TestLog log = small_log();
  log.thread_chunk(2, 8);
  const size_t end = log.size();
  std::string bytes = log.bytes();
  bytes[end + sizeof(wire::RecordHeader) + 3] = 'x';
  const trace::Trace trace = read_or_fail(bytes);
  expect_small_log(trace);
  EXPECT_EQ(count_of(trace, "collector_log_unfinished"), 1U);
  EXPECT_EQ(count_of(trace, "collector_log_damaged_records"), 0U);
}

TEST(CollectorLogDamage, ADamagedRecordCostsItselfAlone) {
  const std::string whole = small_log().bytes();
  // The third record of chunk 1: the push at time 20.
  const size_t place = wire::kSmallestChunkBytes + sizeof(wire::ChunkHeader) +
                       wire::record_bytes<wire::ThreadInfo>() +
                       wire::record_bytes<wire::RangePush>();
  for (size_t i = 0; i < wire::record_bytes<wire::RangePush>(); ++i) {
    std::string bytes = whole;
    bytes[place + i] = static_cast<char>(bytes[place + i] ^ 0x40);
    const trace::Trace trace = read_or_fail(bytes);
    EXPECT_EQ(trace.ranges.start, (std::vector<Nanoseconds>{10, 40})) << i;
    EXPECT_EQ(trace.ranges.end, (std::vector<Nanoseconds>{100, 50})) << i;
    EXPECT_EQ(count_of(trace, "collector_log_damaged_records"), 1U) << i;
  }
}

TEST(CollectorLogDamage, DamagedHeadersCostNoRecords) {
  std::string bytes = small_log().bytes();
  bytes[30] = 'x';                             // the process id
  bytes[wire::kSmallestChunkBytes + 9] = 'x';  // chunk 1's sequence
  const trace::Trace trace = read_or_fail(bytes);
  expect_small_log(trace);
  EXPECT_EQ(count_of(trace, "collector_log_damaged_header"), 1U);
  EXPECT_EQ(count_of(trace, "collector_log_damaged_chunks"), 1U);
  EXPECT_FALSE(trace.captures[0].wall_clock_ns);
}

TEST(CollectorLogDamage, LostNamesAreCounted) {
  std::string bytes = small_log().bytes();
  bytes.resize(2UL * wire::kSmallestChunkBytes);
  const trace::Trace trace = read_or_fail(bytes);
  ASSERT_EQ(trace.ranges.size(), 3U);
  EXPECT_EQ(trace.strings[trace.ranges.text[0]], "(name lost)");
  EXPECT_EQ(count_of(trace, "collector_log_lost_names"), 7U);  // 3 names, 3 domains, 1 operator
}

TEST(CollectorLogDamage, EveryTruncation) {
  const std::string whole = small_log().bytes();
  size_t most = 0;
  for (size_t kept = 0; kept < whole.size(); ++kept) {
    const auto trace = read_bytes(std::string_view(whole).substr(0, kept));
    ASSERT_EQ(trace.has_value(), kept >= sizeof(wire::FileHeader)) << kept;
    if (!trace) continue;
    const size_t rows = trace->ranges.size() + trace->steps.size() + trace->operators.size();
    ASSERT_GE(rows, most) << kept;
    most = rows;
    // Also at chunk boundaries: the log was closed, and says how many chunks there were.
    ASSERT_EQ(count_of(*trace, "collector_log_truncated"), 1U) << kept;
    ASSERT_EQ(count_of(*trace, "collector_log_bad_values"), 0U) << kept;
  }
  EXPECT_EQ(most, 5U);
}

TEST(CollectorLogDamage, FlippedBytes) {
  const std::string whole = small_log().bytes();
  std::mt19937 random(5);
  std::uniform_int_distribution<size_t> place(sizeof wire::kFileMagic, whole.size() - 1);
  for (int round = 0; round < 3000; ++round) {
    std::string damaged = whole;
    for (int i = 0; i <= round % 4; ++i) damaged[place(random)] = static_cast<char>(random());
    const auto trace = read_bytes(damaged);
    if (!trace) {
      ASSERT_EQ(trace.error().kind, ErrorKind::input);
      continue;
    }
    // Damage never creates rows.
    ASSERT_LE(trace->ranges.size(), 3U);
    ASSERT_LE(trace->operators.size(), 1U);
  }
}

}  // namespace
}  // namespace llmprof::readers
