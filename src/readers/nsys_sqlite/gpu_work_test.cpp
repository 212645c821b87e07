#include "readers/shared/reader.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "testing/shared_captures.h"
#include "testing/temporary_folder.h"

namespace llmprof::readers {
namespace {

TEST(HoldsGpuKernels, InKernelsAndInWholeGraphs) {
  EXPECT_TRUE(holds_gpu_kernels(testing::test_data("nsys_sqlite/eager.sqlite")));
  EXPECT_TRUE(holds_gpu_kernels(testing::test_data("nsys_sqlite/graph_level.sqlite")));
}

TEST(HoldsGpuKernels, NotWhereTheTableIsMissingOrEmpty) {
  const testing::TemporaryFolder folder;
  const auto file = folder.path() / "run.sqlite";
  const auto execute = [&](const char* statement) {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(file.c_str(), &database), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(database, statement, nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(database);
  };
  execute("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT)");
  EXPECT_FALSE(holds_gpu_kernels(file));
  execute("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER)");
  EXPECT_FALSE(holds_gpu_kernels(file));
  execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1, 2)");
  EXPECT_TRUE(holds_gpu_kernels(file));
}

TEST(HoldsGpuKernels, LeavesDamageToTheReader) {
  const testing::TemporaryFolder folder;
  folder.write("run.sqlite",
               "no database at all, and long enough for a header of one hundred bytes"
               " so that only its content shows that it is none");
  EXPECT_TRUE(holds_gpu_kernels(folder.path() / "run.sqlite"));
  EXPECT_TRUE(holds_gpu_kernels(folder.path() / "missing.sqlite"));
}

}  // namespace
}  // namespace llmprof::readers
