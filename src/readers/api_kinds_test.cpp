// The names of API calls mean the same whichever tool recorded them.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <array>
#include <map>

#include "readers/shared/reader.h"
#include "testing/readers/collector_log.h"
#include "testing/temporary_folder.h"

namespace llmprof::readers {
namespace {

using testing::TemporaryFolder;
using trace::ApiKind;

struct Call {
  std::string_view name;
  ApiKind kind;
};

constexpr std::array<Call, 8> kCalls = {{{"cudaLaunchKernel", ApiKind::launch},
                                         {"cuLaunchKernelEx", ApiKind::launch},
                                         {"hipLaunchKernel", ApiKind::launch},
                                         {"cudaGraphLaunch", ApiKind::graph_launch},
                                         {"cudaStreamSynchronize", ApiKind::synchronization},
                                         {"cudaMemcpyAsync", ApiKind::copy},
                                         {"cudaMemcpy", ApiKind::blocking_copy},
                                         {"cudaMalloc", ApiKind::allocation}}};

void expect_kinds(const Reader& reader, const std::filesystem::path& path,
                  std::string_view suffix = "") {
  trace::TraceBuilder builder;
  const auto read = reader.read(path, builder);
  ASSERT_TRUE(read.has_value()) << read.error().message;
  const trace::Trace trace = std::move(builder).freeze();
  std::map<std::string, ApiKind> kinds;
  for (const trace::StringId api : trace.launches.api) {
    kinds.emplace(trace.strings[api], trace.api_kind(api));
  }
  std::map<std::string, ApiKind> expected;
  for (const Call& call : kCalls)
    expected.emplace(fmt::format("{}{}", call.name, suffix), call.kind);
  EXPECT_EQ(kinds, expected);
}

TEST(ApiKindsOfReaders, NsysSqlite) {
  std::string statements =
      "CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT, end INT, globalTid INT, "
      "correlationId INT, nameId INT);";
  for (size_t i = 0; i < kCalls.size(); ++i) {
    statements += fmt::format(
        "INSERT INTO StringIds VALUES ({0}, '{1}_v3020');"
        "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES ({0}0, {0}5, 16777217, {0}, {0});",
        i + 1, kCalls[i].name);
  }
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "calls.sqlite";
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(database, statements.c_str(), nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(database);
  expect_kinds(kNsysSqliteReader, path, "_v3020");
}

TEST(ApiKindsOfReaders, NsysCsv) {
  std::string text = "Start (ns),Duration (ns),Name,Result,CorrID,Pid,Tid,T-Pri,Thread Name\n";
  for (size_t i = 0; i < kCalls.size(); ++i) {
    text += fmt::format("{0}00,50,{1},0,{0},4242,4243,20,worker\n", i + 1, kCalls[i].name);
  }
  const TemporaryFolder folder;
  expect_kinds(kNsysCsvReader, folder.write("calls_cuda_api_trace.csv", text));
}

TEST(ApiKindsOfReaders, Kineto) {
  std::string events;
  for (size_t i = 0; i < kCalls.size(); ++i) {
    events += fmt::format(
        R"({0}{{"ph":"X","cat":"cuda_runtime","name":"{1}","pid":1,"tid":1,"ts":{2}0,"dur":5,)"
        R"("args":{{"correlation":{2}}}}})",
        i == 0 ? "" : ",", kCalls[i].name, i + 1);
  }
  const TemporaryFolder folder;
  expect_kinds(kKinetoReader,
               folder.write("trace.json", fmt::format(R"({{"traceEvents":[{}]}})", events)));
}

TEST(ApiKindsOfReaders, CollectorLog) {
  testing::TestLog log;
  log.header.chunk_bytes = 4 * wire::kSmallestChunkBytes;
  log.add(wire::RecordType::clean_end, wire::CleanEnd{9000, 0, 3});
  log.chunk(wire::ChunkKind::strings, 0);
  for (uint32_t i = 1; i <= kCalls.size(); ++i) {
    log.add_text(i, kCalls[i - 1].name);
    log.add(wire::RecordType::api_name, wire::ApiName{i, i});
  }
  log.thread_chunk(1, 7);
  for (uint32_t i = 1; i <= kCalls.size(); ++i) {
    log.add(wire::RecordType::api_call, wire::ApiCall{100 * i, 100 * i + 50, i, i});
  }
  const TemporaryFolder folder;
  expect_kinds(kCollectorLogReader, folder.write("calls.llmtrace", log.bytes()));
}

}  // namespace
}  // namespace llmprof::readers
