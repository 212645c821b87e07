#include "capture/nsys/nsys_capture.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "base/text.h"
#include "testing/temporary_folder.h"

namespace llmprof::capture {
namespace {

namespace fs = std::filesystem;
using testing::file_bytes;
using testing::TemporaryFolder;

const std::set<std::string> kAllowed = {"CUDA_VISIBLE_DEVICES"};

void execute(const fs::path& path, const std::string& statements) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(database, statements.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
      << sqlite3_errmsg(database);
  sqlite3_close(database);
}

// The only value of a query, as stored.
std::string value(const fs::path& path, const std::string& query) {
  sqlite3* database = nullptr;
  sqlite3_stmt* statement = nullptr;
  EXPECT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  EXPECT_EQ(sqlite3_prepare_v2(database, query.c_str(), -1, &statement, nullptr), SQLITE_OK);
  EXPECT_EQ(sqlite3_step(statement), SQLITE_ROW) << query;
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement, 0));
  std::string text(bytes == nullptr ? "" : bytes,
                   bytes == nullptr ? 0 : static_cast<size_t>(sqlite3_column_bytes(statement, 0)));
  sqlite3_finalize(statement);
  sqlite3_close(database);
  return text;
}

// The three places in which nsys 2022.4 and 2025.3 keep variables.
constexpr const char* kExport = R"(
  CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
  INSERT INTO StringIds VALUES (1, 'gemm'), (2, 'a=b'),
    (3, CAST('TOKEN=hunter2' || x'00' || 'CUDA_VISIBLE_DEVICES=0' || x'00' || 'HOME=/hunter2' AS TEXT)),
    (4, CAST('three' || x'00' || 'parts' || x'00' || 'k=v' AS TEXT));
  CREATE TABLE TARGET_INFO_SYSTEM_ENV (globalVid INT, devStateName TEXT, name TEXT, nameEnum INT,
    value TEXT);
  INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES (1, 'Local', 'NvDriverVersion', 205, '580.1'),
    (1, 'Local', 'DeviceEnvironment', 610, CAST('TOKEN=hunter2' || x'00' || 'SHLVL=1' AS TEXT));
  CREATE TABLE META_DATA_CAPTURE (name TEXT, value TEXT);
  INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:COMMAND', 'python3'),
    ('PROCESS_0:ENVIRONMENT_VARIABLE', 'TOKEN="hunter2"'),
    ('PROCESS_0:ENVIRONMENT_VARIABLE', 'CUDA_VISIBLE_DEVICES="0"');
)";

TEST(ScrubEnvironment, TakesOutWhatIsNotAllowed) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "it's run.sqlite";
  execute(file, kExport);
  const auto removed = scrub_environment(file, kAllowed);
  ASSERT_TRUE(removed) << removed.error().message;
  EXPECT_EQ(*removed, 5U);
  EXPECT_EQ(value(file, "SELECT value FROM StringIds WHERE id = 3"), "CUDA_VISIBLE_DEVICES=0");
  EXPECT_EQ(value(file, "SELECT value FROM StringIds WHERE id = 1"), "gemm");
  EXPECT_EQ(value(file, "SELECT value FROM StringIds WHERE id = 2"), "a=b");
  EXPECT_EQ(value(file, "SELECT length(CAST(value AS BLOB)) FROM StringIds WHERE id = 4"), "15");
  EXPECT_EQ(value(file, "SELECT value FROM TARGET_INFO_SYSTEM_ENV WHERE nameEnum = 205"), "580.1");
  EXPECT_EQ(value(file, "SELECT value FROM TARGET_INFO_SYSTEM_ENV WHERE nameEnum = 610"), "");
  EXPECT_EQ(value(file, "SELECT group_concat(value, '|') FROM META_DATA_CAPTURE"),
            "python3||CUDA_VISIBLE_DEVICES=\"0\"");
  EXPECT_FALSE(contains(file_bytes(file), "hunter2"));
  EXPECT_FALSE(contains(file_bytes(file), "SHLVL"));
  EXPECT_EQ(scrub_environment(file, kAllowed).value_or(99), 0U);
  const auto beside = fs::directory_iterator(folder.path());
  EXPECT_EQ(std::distance(begin(beside), end(beside)), 1);
}

TEST(ScrubEnvironment, TakesSecretsOutOfCommandLines) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "run.sqlite";
  execute(file, R"(
    CREATE TABLE META_DATA_CAPTURE (name TEXT, value TEXT);
    INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:ARGUMENT_0', 'serve.py'),
      ('PROCESS_0:ARGUMENT_10', 'hunter2'), ('PROCESS_0:ARGUMENT_9', '--auth'),
      ('PROCESS_1:ARGUMENT_0', '--new'), ('PROCESS_1:ARGUMENT_1', '16');
  )");
  ASSERT_EQ(scrub_environment(file, kAllowed).value_or(99), 1U);
  EXPECT_EQ(value(file, "SELECT group_concat(value, ' ') FROM META_DATA_CAPTURE"),
            "serve.py *** --auth --new 16");
  EXPECT_FALSE(contains(file_bytes(file), "hunter2"));
}

// SQLite leaves deleted rows readable in the file; nsys's own exports have such remnants.
TEST(ScrubEnvironment, LeavesNoRemnants) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "run.sqlite";
  execute(file, std::string("PRAGMA secure_delete = OFF;") + kExport +
                    "INSERT INTO StringIds VALUES (9, 'PASSWORD=correct horse');"
                    "DELETE FROM StringIds WHERE id = 9;");
  ASSERT_TRUE(contains(file_bytes(file), "correct horse")) << "nothing to be scrubbed";
  ASSERT_TRUE(scrub_environment(file, kAllowed));
  EXPECT_FALSE(contains(file_bytes(file), "correct horse"));
}

TEST(ScrubEnvironment, LeavesWhatIsNoDatabaseAlone) {
  const TemporaryFolder folder;
  const fs::path file = folder.write("run.sqlite", "not a database, but long enough to look like");
  const auto removed = scrub_environment(file, kAllowed);
  ASSERT_FALSE(removed);
  EXPECT_TRUE(contains(removed.error().message, file.string())) << removed.error().message;
  EXPECT_EQ(file_bytes(file), "not a database, but long enough to look like");
  EXPECT_FALSE(scrub_environment(folder.path() / "absent", kAllowed));
  const auto beside = fs::directory_iterator(folder.path());
  EXPECT_EQ(std::distance(begin(beside), end(beside)), 1);
}

}  // namespace
}  // namespace llmprof::capture
