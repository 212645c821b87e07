#include "base/files.h"

#include <gtest/gtest.h>

#include "base/diagnostics.h"
#include "testing/temporary_folder.h"

namespace llmprof {
namespace {

TEST(Files, AppearWholeAndReplace) {
  const testing::TemporaryFolder folder;
  const auto path = folder.path() / "out.txt";
  ASSERT_TRUE(write_file_atomically(path, "one"));
  ASSERT_TRUE(write_file_atomically(path, "two"));
  EXPECT_EQ(testing::file_bytes(path), "two");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(Files, AreReadWhole) {
  const testing::TemporaryFolder folder;
  const std::string longer(100'000, 'x');
  EXPECT_EQ(file_content(folder.write("empty", "")), "");
  EXPECT_EQ(file_content(folder.write("long", longer)), longer);
  EXPECT_NE(file_content("/proc/self/stat").value_or(""), "");
}

TEST(Files, ThatCannotBeReadAreNothing) {
  EXPECT_EQ(file_content("/no/such/file"), std::nullopt);
  EXPECT_EQ(file_content("/"), std::nullopt);  // opens, but cannot be read
}

TEST(Files, NameThePathAndTheCause) {
  const auto done = write_file_atomically("/no/such/folder/out.txt", "x");
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::tool);
  EXPECT_NE(done.error().message.find("/no/such/folder/out.txt"), std::string::npos);
  EXPECT_NE(done.error().message.find("No such file"), std::string::npos);
}

TEST(Diagnostics, CountsWhatRepeats) {
  Diagnostics diagnostics;
  diagnostics.warn("bad_rows", "rows left out", 3);
  diagnostics.warn("bad_rows", "rows left out", 4);
  diagnostics.info("bad_rows", "other words");
  diagnostics.error("none", "nothing happened", 0);
  ASSERT_EQ(diagnostics.items().size(), 2U);
  EXPECT_EQ(diagnostics.items()[0].count, 7U);
  EXPECT_FALSE(diagnostics.has("none"));
}

}  // namespace
}  // namespace llmprof
