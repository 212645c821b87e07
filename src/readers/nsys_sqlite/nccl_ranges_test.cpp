#include "readers/nsys_sqlite/nccl_ranges.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "readers/shared/reader.h"
#include "testing/temporary_folder.h"
#include "trace/name_kinds.h"

namespace llmprof::readers {
namespace {

class NcclRangesTest : public ::testing::Test {
 protected:
  NcclRangesTest() {
    builder_.begin_capture({});
    thread_ = builder_.thread(builder_.process(1, 1), 1, 1);
  }

  void range(std::string_view text, Nanoseconds start, Nanoseconds end) {
    ranges_.start.push_back(start);
    ranges_.end.push_back(end);
    ranges_.thread.push_back(thread_);
    ranges_.domain.emplace_back();
    ranges_.text.push_back(builder_.string(text));
    ranges_.kind.push_back(trace::RangeKind::push_pop);
  }
  // A range with its payload.
  void range(std::string_view text, Nanoseconds start, Nanoseconds end, uint64_t bytes) {
    range(text, start, end);
    payloads_.push_back({thread_, start, 0xABC, bytes, {}, {}});
  }

  using enum CollectiveKind;
  struct Found {
    CollectiveKind kind;
    uint64_t bytes;
    Nanoseconds start;
    friend bool operator==(const Found&, const Found&) = default;
  };
  std::vector<Found> found() {
    add_nccl_collectives(ranges_, payloads_, builder_);
    const trace::CollectiveTable& table = builder_.trace().collectives;
    std::vector<Found> rows;
    for (size_t i = 0; i < table.size(); ++i) {
      rows.push_back({table.kind[i], table.bytes[i], table.start[i]});
    }
    return rows;
  }

  trace::TraceBuilder builder_;
  trace::ThreadId thread_;
  trace::RangeTable ranges_;
  std::vector<NcclPayload> payloads_;
};

TEST_F(NcclRangesTest, ACallLaunchesInsideItself) {
  range("ncclAllReduce", 10, 20, 4096);
  range("ncclCommCount", 30, 31);
  range("decode_step", 32, 90);
  range("ncclReduceScatter", 40, 50);
  range("nccl:all_gather, op_id = 12", 60, 70);
  EXPECT_EQ(found(), (std::vector<Found>{
                         {all_reduce, 4096, 10}, {reduce_scatter, 0, 40}, {all_gather, 0, 60}}));
  EXPECT_EQ(builder_.trace().strings[builder_.trace().collectives.group[0]], "0xabc");
  EXPECT_FALSE(builder_.trace().collectives.group[1].valid());
}

TEST_F(NcclRangesTest, AGroupLaunchesAtItsEnd) {
  range("ncclGroupStart", 10, 11);
  range("ncclRecv", 12, 13, 300);
  range("ncclSend", 14, 15, 100);
  range("ncclRecv", 16, 17, 400);
  range("ncclSend", 18, 19, 200);
  range("ncclGroupEnd", 20, 30);
  range("ncclGroupStart", 40, 41);
  range("ncclGroupStart", 42, 43);
  range("ncclRecv", 44, 45, 7);
  range("ncclGroupEnd", 46, 47);
  range("ncclGroupEnd", 48, 50);
  range("ncclGroupStart", 60, 61);
  range("ncclAllReduce", 62, 63, 1);
  range("ncclAllReduce", 64, 65, 2);
  range("ncclGroupEnd", 66, 70);
  range("ncclGroupStart", 80, 81);
  range("ncclGroupEnd", 82, 83);
  range("ncclSend", 90, 91, 5);
  EXPECT_EQ(found(),
            (std::vector<Found>{
                {all_to_all, 300, 20}, {receive, 7, 48}, {all_reduce, 3, 66}, {send, 5, 90}}));
}

TEST_F(NcclRangesTest, AReduceScatterTakesWhatAllRanksGet) {
  payloads_.push_back({thread_, 1, 0xABC, {}, 4, 1});
  range("ncclReduceScatter", 10, 20, 100);
  EXPECT_EQ(found(), (std::vector<Found>{{reduce_scatter, 400, 10}}));
}

TEST_F(NcclRangesTest, TheLargestCommunicatorTellsTheRank) {
  payloads_.push_back({thread_, 1, 1, {}, 2, 1});
  payloads_.push_back({thread_, 2, 2, {}, 16, 9});
  EXPECT_TRUE(found().empty());
  EXPECT_EQ(builder_.capture().rank, 9U);
  EXPECT_EQ(builder_.capture().world_size, 16U);
}

TEST_F(NcclRangesTest, SeveralProcessesAreSeveralRanks) {
  payloads_.push_back({thread_, 1, 1, {}, 2, 0});
  payloads_.push_back({builder_.thread(builder_.process(2, 2), 2, 2), 1, 1, {}, 2, 1});
  found();
  EXPECT_FALSE(builder_.capture().rank);
  EXPECT_EQ(builder_.capture().world_size, 2U);
}

// The bytes of an all-reduce of 8,192 bytes in communicator 0x1122: complete, cut short, with an
// unknown schema, and as hexadecimal text.
TEST(NcclPayload, IsReadFromBinaryData) {
  const testing::TemporaryFolder folder;
  const auto path = folder.path() / "nccl_rank_2.sqlite";
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  const std::string header =
      "01000000000000000700000000000000"
      "1000000000000000"
      "2000000000000000";
  const std::string payload =
      "2211000000000000"
      "0020000000000000";
  std::string other = header;
  other[16] = '5';
  const std::string statements =
      "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
      "INSERT INTO StringIds VALUES (1, 'ncclAllReduce');"
      "CREATE TABLE TARGET_INFO_SYSTEM_ENV (name TEXT, value TEXT);"
      "INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES ('Hostname', ' node3 ');"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER);"
      "CREATE TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES (schemaId INTEGER, type INTEGER, name TEXT, "
      "\"offset\" INTEGER);"
      "INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES VALUES (7, 18, 'NCCL communicator ID', NULL), "
      "(7, 22, 'Message size [bytes]', 8), (8, 5, 'Other', 0);"
      "CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, globalTid INTEGER, "
      "domainId INTEGER, textId INTEGER, binaryData TEXT);"
      "INSERT INTO NVTX_EVENTS VALUES (10, 11, 59, 1, 1, 1, X'" +
      header + payload +
      "'), "
      "(20, 21, 59, 1, 1, 1, X'" +
      header + payload.substr(0, 20) +
      "'), "
      "(30, 31, 59, 1, 1, 1, X'" +
      other + payload +
      "'), "
      "(40, 41, 59, 1, 1, 1, '" +
      header + payload +
      "'), "
      "(50, 51, 59, 1, 1, 1, X'00'), (60, 61, 59, 1, 1, 1, NULL);";
  char* message = nullptr;
  ASSERT_EQ(sqlite3_exec(database, statements.c_str(), nullptr, nullptr, &message), SQLITE_OK)
      << message;
  sqlite3_close(database);
  trace::TraceBuilder builder;
  ASSERT_TRUE(kNsysSqliteReader.read(path, builder));
  const trace::Trace trace = std::move(builder).freeze();
  const trace::CollectiveTable& rows = trace.collectives;
  EXPECT_EQ(rows.bytes, (std::vector<uint64_t>{8192, 0, 0, 8192, 0, 0}));
  EXPECT_EQ(trace.strings[rows.group[0]], "0x1122");
  EXPECT_EQ(trace.strings[rows.group[1]], "0x1122");
  EXPECT_FALSE(rows.group[2].valid());
  EXPECT_EQ(trace.strings[rows.group[3]], "0x1122");
  EXPECT_EQ(trace.captures[0].rank, 2U);
  EXPECT_EQ(trace.captures[0].host, "node3");
}

}  // namespace
}  // namespace llmprof::readers
