// SQLite itself is the oracle: rows read from the pages must equal its rows.
#include "readers/nsys_sqlite/table_walk.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <random>
#include <tuple>

#include "readers/nsys_sqlite/sqlite_file.h"
#include "testing/readers/made_database.h"
#include "testing/shared_captures.h"
#include "testing/temporary_folder.h"

namespace llmprof::readers {
namespace {

namespace fs = std::filesystem;
using testing::TemporaryFolder;

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

// One value in a comparable form.
using Seen = std::tuple<bool, int64_t, std::optional<int64_t>, std::string>;

void add_row(const RowValues& values, size_t columns, std::vector<Seen>& seen) {
  for (size_t i = 0; i < columns; ++i) {
    seen.emplace_back(values.is_null(i), values.integer(i), values.number(i), values.text(i));
  }
}

std::vector<Seen> rows_of_library(const SqliteFile& file, const std::string& table,
                                  const std::vector<std::string>& columns, int64_t first,
                                  int64_t last) {
  std::vector<Seen> found;
  SqliteRows rows =
      file.query(select_columns(table, columns) + " WHERE rowid BETWEEN ?1 AND ?2 ORDER BY rowid");
  rows.bind(1, first);
  rows.bind(2, last);
  RowValues values(columns.size());
  while (rows.next()) {
    rows.take(values);
    add_row(values, columns.size(), found);
  }
  EXPECT_EQ(rows.damage(), "");
  return found;
}

struct Walked {
  std::vector<Seen> values;
  std::vector<int64_t> rows;
  std::vector<int64_t> long_rows;
  TableWalk::Step end = TableWalk::Step::row;
};

Walked rows_of_pages(const fs::path& path, const TableLayout& layout, size_t columns, int64_t first,
                     int64_t last) {
  Walked walked;
  auto pages = TableWalk::open(path);
  if (!pages) return walked;
  RowValues values(columns);
  pages->start(layout.root_page, first, last);
  while (true) {
    walked.end = pages->next();
    if (walked.end == TableWalk::Step::long_row) {
      walked.long_rows.push_back(pages->row_id());
    } else if (walked.end != TableWalk::Step::row) {
      return walked;
    } else {
      EXPECT_TRUE(take_fields(pages->record(), layout, values));
      walked.rows.push_back(pages->row_id());
      add_row(values, columns, walked.values);
    }
  }
}

// Rows of every type and width, in a table with deleted rows.
std::string many_rows(int page_bytes, int rows) {
  std::mt19937_64 random(7);
  std::string sql = fmt::format(
      "PRAGMA page_size = {}; CREATE TABLE t (a INTEGER, b, c TEXT, d REAL, e);"
      "BEGIN;",
      page_bytes);
  for (int row = 0; row < rows; ++row) {
    const auto integer = static_cast<int64_t>(random()) >> (random() % 64);
    sql += fmt::format("INSERT INTO t (rowid, a, b, c, d, e) VALUES ({}, {}, {}, '{}', {}, x'{}');",
                       row * 3 - rows, integer, row % 5 == 0 ? "NULL" : std::to_string(row % 3),
                       std::string(random() % 40, 'x'), static_cast<double>(integer) / 8,
                       row % 2 == 0 ? "00ff10" : "");
  }
  return sql + "COMMIT; DELETE FROM t WHERE a % 7 = 1;";
}

TEST(TableWalk, GivesTheRowsThatSqliteGives) {
  const TemporaryFolder folder;
  const std::vector<std::string> columns = {"e", "a", "", "b", "c", "d"};
  for (const int page_bytes : {512, 4096, 65536}) {
    const fs::path path = made_database(folder, many_rows(page_bytes, 6000));
    const auto file = SqliteFile::open(path);
    ASSERT_TRUE(file);
    const auto layout = file->layout("t", columns);
    ASSERT_TRUE(layout);
    for (const auto& [first, last] : std::vector<std::pair<int64_t, int64_t>>{
             {kLeast, kMost}, {-6000, -1}, {-1, 0}, {301, 7000}, {11990, kMost}, {5, 4}}) {
      const Walked walked = rows_of_pages(path, *layout, columns.size(), first, last);
      EXPECT_EQ(walked.end, TableWalk::Step::end);
      EXPECT_TRUE(walked.long_rows.empty());
      EXPECT_TRUE(walked.values == rows_of_library(*file, "t", columns, first, last))
          << page_bytes << " bytes a page, rows " << first << " to " << last;
    }
  }
}

TEST(TableWalk, ReportsRowsThatContinueInOtherPages) {
  const TemporaryFolder folder;
  const fs::path path =
      made_database(folder,
                    "CREATE TABLE t (a, b); INSERT INTO t VALUES (1, 'short'), (2, "
                    "zeroblob(4056)), (3, zeroblob(4057)), (4, zeroblob(100000)), (5, NULL)");
  const auto file = SqliteFile::open(path);
  ASSERT_TRUE(file);
  const auto layout = file->layout("t", std::vector<std::string>{"a"});
  ASSERT_TRUE(layout);
  const Walked walked = rows_of_pages(path, *layout, 1, kLeast, kMost);
  EXPECT_EQ(walked.end, TableWalk::Step::end);
  EXPECT_EQ(walked.rows.size(), 3U);
  EXPECT_EQ(walked.long_rows, (std::vector<int64_t>{3, 4}));
}

TEST(TableWalk, TextsBecomeNumbersAsInSqlite) {
  const TemporaryFolder folder;
  const fs::path path = made_database(
      folder,
      "CREATE TABLE t (a, b TEXT); INSERT INTO t (a) VALUES ('12'), (' 12'), ('12x'), ('+5'), "
      "('+-5'),"
      "('-7 '), (''), ('x'), ('99999999999999999999'), ('-99999999999999999999'), (1e30), (-1e30),"
      "(2.9), (-2.9), (x'3132'), (NULL)");
  const auto file = SqliteFile::open(path);
  ASSERT_TRUE(file);
  const auto layout = file->layout("t", std::vector<std::string>{"a"});
  ASSERT_TRUE(layout);
  auto pages = TableWalk::open(path);
  ASSERT_TRUE(pages);
  SqliteRows rows = file->query("SELECT a, CAST(a AS INTEGER) FROM t");
  RowValues values(1);
  pages->start(layout->root_page, kLeast, kMost);
  while (rows.next()) {
    ASSERT_EQ(pages->next(), TableWalk::Step::row);
    ASSERT_TRUE(take_fields(pages->record(), *layout, values));
    EXPECT_EQ(values.integer(0), rows.integer(0)) << rows.text(0);
  }
  EXPECT_EQ(pages->next(), TableWalk::Step::end);
}

TEST(TableWalk, ColumnsAddedLaterAreNull) {
  const TemporaryFolder folder;
  const fs::path path =
      made_database(folder,
                    "CREATE TABLE t (a); INSERT INTO t VALUES (1); ALTER TABLE t ADD COLUMN b; "
                    "INSERT INTO t VALUES (2, 3)");
  const auto file = SqliteFile::open(path);
  ASSERT_TRUE(file);
  const std::vector<std::string> columns = {"b", "a"};
  const auto layout = file->layout("t", columns);
  ASSERT_TRUE(layout);
  EXPECT_TRUE(rows_of_pages(path, *layout, 2, kLeast, kMost).values ==
              rows_of_library(*file, "t", columns, kLeast, kMost));
}

TEST(TableWalk, LeavesToSqliteWhatOnlySqliteKnows) {
  const TemporaryFolder folder;
  const std::vector<std::string> wanted = {"b"};
  for (const char* statements :
       {"CREATE TABLE t (a); INSERT INTO t VALUES (1); ALTER TABLE t ADD COLUMN b DEFAULT 5",
        "CREATE TABLE t (b INTEGER PRIMARY KEY)", "CREATE TABLE t (a, b AS (a + 1))",
        "CREATE TABLE t (a, c AS (a + 1), b)",
        "CREATE TABLE u (b); CREATE VIEW t AS SELECT * FROM u", "CREATE TABLE u (b)",
        "CREATE TABLE t (b, RowId)"}) {
    const fs::path path = made_database(folder, statements);
    const auto file = SqliteFile::open(path);
    ASSERT_TRUE(file);
    EXPECT_FALSE(file->layout("t", wanted)) << statements;
  }
  const fs::path keyed = made_database(
      folder,
      "CREATE TABLE t (a TEXT PRIMARY KEY, b) WITHOUT ROWID; INSERT INTO t VALUES ('x', 1)");
  const auto file = SqliteFile::open(keyed);
  const auto layout = file->layout("t", wanted);
  ASSERT_TRUE(layout);
  EXPECT_EQ(rows_of_pages(keyed, *layout, 1, kLeast, kMost).end, TableWalk::Step::damage);
  const fs::path wide = made_database(folder, "PRAGMA encoding = 'UTF-16'; CREATE TABLE t (b)");
  EXPECT_FALSE(TableWalk::open(wide));
  EXPECT_FALSE(TableWalk::open(folder.write("other", std::string(200, 'x'))));
  EXPECT_FALSE(TableWalk::open(folder.path() / "missing"));
}

// A page that is its own child: the walk ends and reports damage.
TEST(TableWalk, EndsWherePagesFormALoop) {
  const TemporaryFolder folder;
  const fs::path path = made_database(folder, many_rows(512, 3000));
  const auto file = SqliteFile::open(path);
  ASSERT_TRUE(file);
  const auto layout = file->layout("t", std::vector<std::string>{"a"});
  ASSERT_TRUE(layout);
  const uint32_t root = layout->root_page;
  std::fstream bytes(path, std::ios::in | std::ios::out | std::ios::binary);
  bytes.seekp(static_cast<std::streamoff>((root - 1) * 512 + 8));  // the rightmost child
  const std::string number{0, 0, static_cast<char>(root >> 8U), static_cast<char>(root)};
  bytes.write(number.data(), 4);
  bytes.close();
  const Walked walked = rows_of_pages(path, *layout, 1, kLeast, kMost);
  EXPECT_EQ(walked.end, TableWalk::Step::damage);
  EXPECT_GT(walked.rows.size(), 0U);
}

// The first two rows are swapped.
TEST(TableWalk, ReportsRowsOutOfOrder) {
  const TemporaryFolder folder;
  const fs::path path =
      made_database(folder, "CREATE TABLE t (a); INSERT INTO t VALUES (1), (2), (3), (4), (5)");
  const auto file = SqliteFile::open(path);
  ASSERT_TRUE(file);
  const auto layout = file->layout("t", std::vector<std::string>{"a"});
  ASSERT_TRUE(layout);
  std::fstream bytes(path, std::ios::in | std::ios::out | std::ios::binary);
  const auto cells = static_cast<std::streamoff>((layout->root_page - 1) * 4096 + 8);
  std::string places(4, '\0');
  bytes.seekg(cells);
  bytes.read(places.data(), 4);
  std::rotate(places.begin(), places.begin() + 2, places.end());
  bytes.seekp(cells);
  bytes.write(places.data(), 4);
  bytes.close();
  const std::vector<std::pair<int64_t, size_t>> expected = {{kLeast, 1}, {2, 1}, {3, 0}};
  for (const auto& [first, rows] : expected) {
    const Walked walked = rows_of_pages(path, *layout, 1, first, kMost);
    EXPECT_EQ(walked.end, TableWalk::Step::damage) << first;
    EXPECT_EQ(walked.rows.size(), rows) << first;
  }
}

TEST(TableWalk, GivesTheRowsOfCaptures) {
  const fs::path path = testing::h200_captures() / "h200-llama-eager/nsys.sqlite";
  const auto file = SqliteFile::open(path);
  ASSERT_TRUE(file);
  for (const std::string table : {"CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY",
                                  "NVTX_EVENTS", "TARGET_INFO_SYSTEM_ENV"}) {
    const std::vector<std::string> columns = file->columns(table);
    const auto layout = file->layout(table, columns);
    ASSERT_TRUE(layout) << table;
    const Walked walked = rows_of_pages(path, *layout, columns.size(), kLeast, kMost);
    EXPECT_EQ(walked.end, TableWalk::Step::end) << table;
    EXPECT_TRUE(walked.long_rows.empty()) << table;
    EXPECT_FALSE(walked.rows.empty()) << table;
    EXPECT_TRUE(walked.values == rows_of_library(*file, table, columns, kLeast, kMost)) << table;
  }
}

}  // namespace
}  // namespace llmprof::readers
