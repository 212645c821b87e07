#include <gtest/gtest.h>

#include "base/text.h"
#include "capture/nsys/nsys_capture.h"
#include "readers/shared/reader.h"
#include "testing/shared_captures.h"
#include "testing/temporary_folder.h"

namespace llmprof::session {
namespace {

namespace fs = std::filesystem;

// An export of nsys 2025.3 with kernels, ranges and processes.
TEST(ScrubbedExport, ReadsAsBefore) {
  const testing::TemporaryFolder folder;
  const fs::path file = folder.path() / "run.sqlite";
  fs::copy_file(testing::test_data("h200-serving/nsys.sqlite"), file);
  fs::permissions(file, fs::perms::owner_write, fs::perm_options::add);
  const auto read = [](const fs::path& path) {
    trace::TraceBuilder builder;
    EXPECT_TRUE(readers::kNsysSqliteReader.read(path, builder));
    return std::move(builder).freeze();
  };
  const trace::Trace before = read(file);
  ASSERT_TRUE(capture::scrub_environment(file, {}));
  const trace::Trace after = read(file);
  EXPECT_GT(before.kernels.size(), 0U);
  EXPECT_EQ(after.kernels.start, before.kernels.start);
  EXPECT_EQ(after.kernels.end, before.kernels.end);
  EXPECT_EQ(after.ranges.size(), before.ranges.size());
  EXPECT_FALSE(contains(testing::file_bytes(file), "LD_LIBRARY_PATH="));
}

}  // namespace
}  // namespace llmprof::session
