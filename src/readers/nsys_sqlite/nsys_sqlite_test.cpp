#include "readers/shared/reader.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <set>

#include "testing/readers/made_database.h"
#include "testing/shared_captures.h"
#include "testing/temporary_folder.h"

namespace llmprof::readers {
namespace {

namespace fs = std::filesystem;
using testing::TemporaryFolder;

trace::Trace read_sqlite(const fs::path& path) {
  trace::TraceBuilder builder;
  const auto done = kNsysSqliteReader.read(path, builder);
  EXPECT_TRUE(done) << (done ? "" : done.error().message);
  return std::move(builder).freeze();
}

Nanoseconds kernel_sum(const trace::Trace& trace) {
  Nanoseconds sum = 0;
  for (size_t i = 0; i < trace.kernels.size(); ++i) {
    sum += trace.kernels.end[i] - trace.kernels.start[i];
  }
  return sum;
}

constexpr const char* kStrings = R"(
  CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
  INSERT INTO StringIds VALUES (1, 'gemm'), (2, 'cudaLaunchKernel'), (3, 'decode'), (4, 'LLM'),
    (5, 'SECRET_TOKEN=abc');
)";

// Expected values: the README next to the captures.
TEST(NsysSqlite, EqualsTheTruthOfTheH200Captures) {
  const auto captures = testing::h200_captures();
  struct Truth {
    const char* file;
    size_t kernels;
    Nanoseconds total;
  };
  for (const Truth& truth : {Truth{"h200-llama-eager/nsys.sqlite", 15512, 57331089},
                             Truth{"h200-dense-graph/nsys_node.sqlite", 41227, 157504418},
                             Truth{"h200-dense-graph/nsys_graph.sqlite", 4075, 41494796}}) {
    const trace::Trace trace = read_sqlite(captures / truth.file);
    EXPECT_EQ(trace.kernels.size(), truth.kernels) << truth.file;
    EXPECT_EQ(kernel_sum(trace), truth.total) << truth.file;
    EXPECT_TRUE(std::is_sorted(trace.kernels.start.begin(), trace.kernels.start.end()));
    ASSERT_EQ(trace.devices.size(), 1U);
    EXPECT_EQ(trace.devices[0].name, "NVIDIA H200");
    EXPECT_EQ(trace.captures[0].tool_version, "2025.3.2.0");
    EXPECT_EQ(trace.captures[0].driver_version, "580.159.04");
  }
}

// Row counts from `SELECT count(*)` in the sqlite3 command line.
TEST(NsysSqlite, ReadsEveryTableOfAGraphLevelCapture) {
  const auto captures = testing::h200_captures();
  const trace::Trace trace = read_sqlite(captures / "h200-dense-graph/nsys_graph.sqlite");
  EXPECT_EQ(trace.graph_replays.size(), 72U);
  EXPECT_EQ(trace.memory_operations.size(), 72U + 82U);
  EXPECT_EQ(trace.launches.size(), 12685U);
  EXPECT_GT(trace.ranges.size(), 250U);
  std::set<std::string_view> texts;
  for (const trace::StringId text : trace.ranges.text) texts.insert(trace.strings[text]);
  EXPECT_TRUE(texts.contains("decode_all"));
  EXPECT_TRUE(texts.contains("prefill"));
  for (const trace::LaunchRow launch : trace.graph_replays.launch) EXPECT_TRUE(launch.valid());
}

TEST(SharedCapturesNsysSqlite, KeepsEqualCorrelationsOfTwoProcessesApart) {
  LLMPROF_NEEDS_SHARED_CAPTURES(captures);
  const trace::Trace trace =
      read_sqlite(captures / "public/GindaChen+nsys-ai__mfu_2gpu_before.sqlite");
  EXPECT_EQ(trace.kernels.size(), 4010U);
  std::set<std::pair<uint32_t, uint32_t>> per_process;
  std::set<uint32_t> plain;
  for (size_t i = 0; i < trace.kernels.size(); ++i) {
    const trace::ProcessId process = trace.queues[trace.kernels.queue[i]].process;
    per_process.insert({process.value, trace.kernels.correlation[i]});
    plain.insert(trace.kernels.correlation[i]);
    const trace::LaunchRow launch = trace.kernels.launch[i];
    if (!launch.valid()) continue;
    const trace::ThreadId thread = trace.launches.thread[launch.index()];
    EXPECT_EQ(trace.threads[thread.index()].process, process);
    EXPECT_EQ(trace.launches.correlation[launch.index()], trace.kernels.correlation[i]);
  }
  EXPECT_EQ(per_process.size() - plain.size(), 78U);
}

TEST(SharedCapturesNsysSqlite, ReadsOldAndMinimalSchemas) {
  LLMPROF_NEEDS_SHARED_CAPTURES(captures);
  const trace::Trace old =
      read_sqlite(captures / "public/hpcgroup+pipit__saxpy-mpi-cuda_nsys_perlmutter0.sqlite");
  EXPECT_EQ(old.kernels.size(), 5U);
  EXPECT_EQ(old.memory_operations.size(), 15U);
  EXPECT_EQ(old.captures[0].tool_version, "2022.2.1.31");
  const trace::Trace minimal =
      read_sqlite(captures / "public/GindaChen+nsys-ai__healthy_1pct.sqlite");
  EXPECT_EQ(minimal.kernels.size(), 400U);
  EXPECT_FALSE(minimal.diagnostics.has("kernels_without_launch"));
}

TEST(SharedCapturesNsysSqlite, SaysThatThereIsNoKernelTable) {
  LLMPROF_NEEDS_SHARED_CAPTURES(captures);
  const trace::Trace trace = read_sqlite(captures / "public/lighttransport+gemm__profile.sqlite");
  EXPECT_EQ(trace.kernels.size(), 0U);
  EXPECT_TRUE(trace.diagnostics.has("no_kernel_table"));
}

// Both processes count their calls from 1; each process's launch comes first once.
TEST(NsysSqlite, KeepsEqualCorrelationsOfTwoProcessesApart) {
  const TemporaryFolder folder;
  const trace::Trace trace = read_sqlite(made_database(folder, std::string(kStrings) + R"(
    CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, shortName INT, globalPid INT,
                                             correlationId INT, deviceId INT);
    INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10, 20, 1, 16777216, 1, 0),
      (11, 21, 1, 33554432, 1, 1), (30, 40, 1, 16777216, 2, 0), (31, 41, 1, 33554432, 2, 1);
    CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT, end INT, globalTid INT, correlationId INT,
                                              nameId INT);
    INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1, 2, 16777217, 1, 2), (3, 4, 33554433, 1, 2),
                                                   (5, 6, 33554433, 2, 2), (7, 8, 16777217, 2, 2);)"));
  ASSERT_EQ(trace.kernels.size(), 4U);
  const std::vector<Nanoseconds> launched = {1, 3, 7, 5};
  for (size_t i = 0; i < 4; ++i) {
    const trace::LaunchRow launch = trace.kernels.launch[i];
    ASSERT_TRUE(launch.valid()) << i;
    EXPECT_EQ(trace.launches.start[launch.index()], launched[i]) << i;
    EXPECT_EQ(trace.threads[trace.launches.thread[launch.index()].index()].process,
              trace.queues[trace.kernels.queue[i]].process);
  }
}

// Before 2023 the versions were in a table with another name.
TEST(NsysSqlite, ReadsTheVersionsOfOldExports) {
  const TemporaryFolder folder;
  const trace::Trace trace = read_sqlite(made_database(folder, std::string(kStrings) + R"(
    CREATE TABLE EXPORT_META_DATA (name TEXT, value TEXT);
    INSERT INTO EXPORT_META_DATA VALUES ('EXPORT_PRODUCT_VERSION', '2022.2.1.31'),
                                        ('EXPORT_SCHEMA_VERSION', '2.8');
    CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, globalPid INT, demangledName INT);
    INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10, 30, 16777216, 1);)"));
  EXPECT_EQ(trace.captures[0].tool_version, "2022.2.1.31");
  EXPECT_EQ(trace.captures[0].schema_version, "2.8");
  EXPECT_EQ(trace.kernels.size(), 1U);
  // Without correlations and calls, no launch is missing.
  EXPECT_FALSE(trace.diagnostics.has("kernels_without_launch"));
}

TEST(NsysSqlite, SaysThatThereIsNoKernelTable) {
  const TemporaryFolder folder;
  const trace::Trace trace = read_sqlite(made_database(folder, std::string(kStrings) + R"(
    CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT, end INT, globalTid INT, correlationId INT,
                                              nameId INT);
    INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (5, 8, 16777217, 6, 2);)"));
  EXPECT_EQ(trace.kernels.size(), 0U);
  EXPECT_EQ(trace.launches.size(), 1U);
  EXPECT_TRUE(trace.diagnostics.has("no_kernel_table"));
}

// SQLite converts any text to a number: 0 if it is not one.
TEST(NsysSqlite, SkipsTimesThatAreNoNumbers) {
  const TemporaryFolder folder;
  const trace::Trace trace = read_sqlite(made_database(folder, std::string(kStrings) + R"(
    CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, globalPid INT, demangledName INT);
    INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10, 30, 16777216, 1), ('soon', 30, 16777216, 1),
      ('12', '14', 16777216, 1), (20, x'00', 16777216, 1);)"));
  EXPECT_EQ(trace.kernels.start, (std::vector<Nanoseconds>{10, 12}));
  EXPECT_EQ(kernel_sum(trace), 22);
}

TEST(NsysSqlite, KnowsTheMemoryOfCopies) {
  const TemporaryFolder folder;
  const trace::Trace trace = read_sqlite(made_database(folder, std::string(kStrings) + R"(
    CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INT, end INT, globalPid INT, bytes INT,
                                             copyKind INT, srcKind INT, dstKind INT);
    INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (10, 30, 16777216, 64, 1, 0, 2),
      (40, 50, 16777216, 8, 2, 2, 1), (60, 70, 16777216, 8, 2, NULL, 99);
    CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INT, end INT, globalPid INT, bytes INT,
                                             memKind INT);
    INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (80, 90, 16777216, 4, 2);)"));
  using Place = trace::MemoryPlace;
  const auto& memory = trace.memory_operations;
  EXPECT_EQ(memory.from,
            (std::vector{Place::pageable, Place::device, Place::unknown, Place::unknown}));
  EXPECT_EQ(memory.to, (std::vector{Place::device, Place::pinned, Place::unknown, Place::device}));
}

// nsys numbers operations and kinds differently than CUPTI.
TEST(NsysSqlite, ReadsAllocations) {
  const TemporaryFolder folder;
  const trace::Trace trace = read_sqlite(made_database(folder, std::string(kStrings) + R"(
    CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, globalPid INT, demangledName INT);
    CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS (start INT, globalPid INT, deviceId INT, contextId INT,
      address INT, bytes INT, memKind INT, memoryOperationType INT, correlationId INT,
      localMemoryPoolAddress INT, localMemoryPoolSize INT, localMemoryPoolUtilizedSize INT);
    INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES
      (30, 16777216, 0, 1, 4096, 64, 2, 1, 8, NULL, NULL, NULL),
      (10, 16777216, 0, 1, 4096, 64, 2, 0, 7, NULL, NULL, NULL),
      (20, 16777216, 1, 1, 8192, 128, 4, 0, 9, 20480, 256, 128),
      (25, 16777216, 1, 1, 8192, 128, 99, 0, 9, NULL, NULL, NULL),
      (40, 16777216, 0, 1, 4096, -1, 2, 0, 7, NULL, NULL, NULL),
      (50, 16777216, 0, 1, 4096, 64, 2, 3, 7, NULL, NULL, NULL);)"));
  using enum trace::AllocationKind;
  const trace::MemoryEventTable& events = trace.memory_events;
  ASSERT_EQ(events.time, (std::vector<Nanoseconds>{10, 20, 25, 30}));
  EXPECT_EQ(events.action.back(), trace::MemoryAction::release);
  EXPECT_EQ(events.kind, (std::vector{device, managed, unknown, device}));
  EXPECT_EQ(events.bytes, (std::vector<uint64_t>{64, 128, 128, 64}));
  EXPECT_EQ(events.owner[1], 20480U);
  EXPECT_EQ(events.pool_bytes[1], 256U);
  EXPECT_EQ(trace.devices[events.device[1].index()].ordinal, 1U);
  uint64_t bad = 0;
  for (const Diagnostic& each : trace.diagnostics.items()) {
    if (each.code == "nsys_bad_rows") bad += each.count;
  }
  EXPECT_EQ(bad, 2U);
}

TEST(NsysSqlite, ReadsFromAReadOnlyFolderAndChangesNothing) {
  const TemporaryFolder folder;
  const fs::path path = made_database(folder, std::string(kStrings) + R"(
    CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, globalPid INT, demangledName INT);
    INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10, 30, 16777216, 1);)");
  const std::string before = testing::file_bytes(path);
  ASSERT_EQ(::chmod(path.c_str(), 0444), 0);
  ASSERT_EQ(::chmod(folder.path().c_str(), 0555), 0);
  const trace::Trace trace = read_sqlite(path);
  ::chmod(folder.path().c_str(), 0755);
  EXPECT_EQ(trace.kernels.size(), 1U);
  EXPECT_EQ(testing::file_bytes(path), before);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 1);
}

TEST(NsysSqlite, FindsNewerTablesAndOlderColumns) {
  const TemporaryFolder folder;
  const trace::Trace trace = read_sqlite(made_database(folder, std::string(kStrings) + R"(
    CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL_V2 (start INT, end INT, shortName INT, globalPid INT,
                                                correlationId INT, deviceId INT);
    INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL_V2 VALUES (50, 80, 1, 16777216, 7, 1),
                                                     (10, 30, 1, 16777216, 6, 1),
                                                     (90, 80, 1, 16777216, 8, 1),
                                                     (NULL, 80, 1, 16777216, 9, 1);
    CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT, end INT, globalTid INT, correlationId INT,
                                              nameId INT);
    INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (5, 8, 16777217, 6, 2), (6, 9, 33554433, 7, 2);
    CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INT, cudaId INT, pid INT);
    INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (3, 1, 1);)"));
  ASSERT_EQ(trace.kernels.size(), 2U);
  EXPECT_EQ(trace.kernels.start[0], 10);
  EXPECT_EQ(trace.strings[trace.kernels.name[0]], "gemm");
  EXPECT_EQ(trace.device_of(trace.kernels.queue[0]).ordinal, 3U);
  EXPECT_TRUE(trace.kernels.launch[0].valid());
  EXPECT_FALSE(trace.kernels.launch[1].valid());  // same correlation, but another process
  EXPECT_TRUE(trace.diagnostics.has("kernels_without_launch"));
  EXPECT_TRUE(trace.diagnostics.has("nsys_bad_rows"));
}

TEST(NsysSqlite, ReadsRangesOfAllKinds) {
  const TemporaryFolder folder;
  const trace::Trace trace = read_sqlite(made_database(folder, std::string(kStrings) + R"(
    CREATE TABLE NVTX_EVENTS (start INT, end INT, eventType INT, text TEXT, textId INT,
                              globalTid INT, domainId INT);
    INSERT INTO NVTX_EVENTS VALUES (1, NULL, 75, NULL, 4, 16777217, 2),
      (10, 20, 59, 'prefill', NULL, 16777217, 0), (30, NULL, 60, NULL, 3, 16777217, 2),
      (40, NULL, 34, 'mark', NULL, 16777217, 0), (41, NULL, 33, 'category', NULL, 16777217, 0);)"));
  ASSERT_EQ(trace.ranges.size(), 3U);
  EXPECT_EQ(trace.strings[trace.ranges.text[0]], "prefill");
  EXPECT_FALSE(trace.ranges.domain[0].valid());
  EXPECT_EQ(trace.ranges.kind[1], trace::RangeKind::start_end);
  EXPECT_EQ(trace.ranges.end[1], trace::kOpenEnd);
  EXPECT_EQ(trace.strings[trace.ranges.text[1]], "decode");
  EXPECT_EQ(trace.strings[trace.ranges.domain[1]], "LLM");
  EXPECT_EQ(trace.ranges.end[2], 40);
  EXPECT_FALSE(trace.diagnostics.has("nsys_bad_rows"));
}

TEST(NsysSqlite, TakesNoTextThatNothingRefersTo) {
  const TemporaryFolder folder;
  trace::Trace trace = read_sqlite(made_database(folder, std::string(kStrings) + R"(
    CREATE TABLE TARGET_INFO_SYSTEM_ENV (name TEXT, value TEXT);
    INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES ('HF_TOKEN', 'hf_secret'),
                                              ('NvDriverVersion', 'hf_secret');
    CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, globalPid INT, demangledName INT);
    INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10, 30, 16777216, 1);)"));
  for (size_t i = 0; i < trace.strings.size(); ++i) {
    EXPECT_EQ(trace.strings[trace::StringId(i)].find("SECRET"), std::string_view::npos);
  }
  EXPECT_EQ(trace.captures[0].driver_version, "");
}

TEST(NsysSqlite, ReadsRowsFarApartAndManySlices) {
  const TemporaryFolder folder;
  const trace::Trace trace = read_sqlite(made_database(folder, std::string(kStrings) + R"(
    CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, globalPid INT, demangledName INT);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
      INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT i * 10, i * 10 + 7, 16777216, 1 FROM n;
    DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE rowid % 3 = 0;
    CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INT, end INT, globalPid INT, bytes INT,
                                             copyKind INT);
    INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY (rowid, start, end, globalPid, bytes, copyKind)
      VALUES (1, 1, 2, 16777216, 64, 1), (9000000000000, 3, 4, 16777216, 64, 2);)"));
  EXPECT_EQ(trace.kernels.size(), 66667U);
  EXPECT_EQ(kernel_sum(trace), 66667 * 7);
  ASSERT_EQ(trace.memory_operations.size(), 2U);
  EXPECT_EQ(trace.strings[trace.memory_operations.detail[1]], "Device-to-Host");
}

// The order does not depend on which thread reads which rows.
TEST(NsysSqlite, NumbersWhatItMeetsInTheOrderOfTheRows) {
  const TemporaryFolder folder;
  const trace::Trace trace = read_sqlite(made_database(folder, std::string(kStrings) + R"(
    CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, globalPid INT, streamId INT,
                                             demangledName INT, gridX INT);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 130000)
      INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL
      SELECT i * 10, i * 10 + 7, 16777216, 1 + i / 1000, 1, 1 + i / 100 FROM n;)"));
  ASSERT_EQ(trace.kernels.size(), 130000U);
  EXPECT_EQ(trace.shapes.size(), 1301U);
  EXPECT_TRUE(std::is_sorted(trace.kernels.shape.begin(), trace.kernels.shape.end()));
  EXPECT_TRUE(std::is_sorted(trace.kernels.queue.begin(), trace.kernels.queue.end()));
}

TEST(NsysSqlite, ReadsLongRowsAndTheLastRowId) {
  const TemporaryFolder folder;
  const trace::Trace trace = read_sqlite(made_database(folder, std::string(kStrings) + R"(
    CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, globalPid INT, demangledName INT);
    INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (rowid, start, end, globalPid, demangledName)
      VALUES (9223372036854775807, 10, 17, 16777216, 1);
    CREATE TABLE NVTX_EVENTS (start INT, end INT, eventType INT, globalTid INT, domainId INT, text);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
      INSERT INTO NVTX_EVENTS SELECT i, i + 1, 59, 16777217, 0,
        iif(i % 10 = 0, printf('%.*c', 9000, 'x'), 'range ' || i) FROM n;)"));
  EXPECT_EQ(kernel_sum(trace), 7);
  ASSERT_EQ(trace.ranges.size(), 100U);
  size_t long_texts = 0;
  for (size_t i = 0; i < trace.ranges.size(); ++i) {
    if (trace.strings[trace.ranges.text[i]].size() == 9000) ++long_texts;
    EXPECT_EQ(trace.ranges.start[i], static_cast<Nanoseconds>(i + 1));
  }
  EXPECT_EQ(long_texts, 10U);
}

TEST(NsysSqlite, RefusesOtherDatabases) {
  const TemporaryFolder folder;
  trace::TraceBuilder builder;
  const auto other =
      kNsysSqliteReader.read(made_database(folder, "CREATE TABLE t (a INT);"), builder);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().kind, ErrorKind::input);
  EXPECT_NE(other.error().message.find("nsys export"), std::string::npos);
}

TEST(NsysSqlite, RecognizesNvprof) {
  const TemporaryFolder folder;
  trace::TraceBuilder builder;
  const auto other = kNsysSqliteReader.read(
      made_database(folder,
                    "CREATE TABLE StringTable (_id_ INT, value TEXT);"
                    "CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL (start INT, end INT);"),
      builder);
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message.find("nvprof"), std::string::npos);
}

}  // namespace
}  // namespace llmprof::readers
