#include "base/files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <vector>

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

TEST(Files, OfABundleReplaceNeitherLinksNorPipes) {
  const testing::TemporaryFolder folder;
  const auto elsewhere = folder.write("elsewhere", "mine");
  const auto link = folder.path() / "report.md";
  std::filesystem::create_symlink(elsewhere, link);
  const auto pipe = folder.path() / "profile.json";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const auto& path : {link, pipe}) {
    const auto done = write_file_atomically(path, "x");
    ASSERT_FALSE(done) << path;
    EXPECT_EQ(done.error().kind, ErrorKind::tool);
    EXPECT_NE(done.error().message.find(path.string()), std::string::npos);
  }
  EXPECT_EQ(testing::file_bytes(elsewhere), "mine");
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
}

TEST(Files, FoldersOfABundleAreNoLinks) {
  const testing::TemporaryFolder folder;
  ASSERT_TRUE(make_own_folder(folder.path() / "own" / "nsys"));
  ASSERT_TRUE(make_own_folder(folder.path() / "own" / "nsys"));
  std::filesystem::create_directory_symlink(folder.path() / "own", folder.path() / "linked");
  const auto done = make_own_folder(folder.path() / "linked");
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().message.find("symbolic link"), std::string::npos);
  EXPECT_FALSE(make_own_folder(folder.write("file", "")));
}

TEST(Files, ThatAreReplacedHandOnTheirPermissions) {
  const testing::TemporaryFolder folder;
  const auto path = folder.write("secret.xml", "one");
  using std::filesystem::perms;
  std::filesystem::permissions(path, perms::owner_read | perms::owner_write | perms::group_read);
  ASSERT_TRUE(replace_file(path, "two"));
  EXPECT_EQ(std::filesystem::status(path).permissions(),
            perms::owner_read | perms::owner_write | perms::group_read);
}

TEST(Files, AreNotWrittenThroughALinkOfTheirTemporaryName) {
  const testing::TemporaryFolder folder;
  const auto victim = folder.write("victim", "mine");
  const auto path = folder.path() / "out.txt";
  std::filesystem::create_symlink(victim,
                                  path.string() + "." + std::to_string(::getpid()) + ".tmp");
  ASSERT_TRUE(write_file_atomically(path, "x"));
  EXPECT_EQ(testing::file_bytes(victim), "mine");
  EXPECT_EQ(testing::file_bytes(path), "x");
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

TEST(Files, ThatAreNoneAreRefusedAtOnce) {
  const testing::TemporaryFolder folder;
  const auto pipe = folder.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const auto& [path, what] : std::vector<std::pair<std::filesystem::path, const char*>>{
           {pipe, "is a pipe, not a file"},
           {"/dev/zero", "is a device, not a file"},
           {folder.path(), "is a folder, not a file"},
           {folder.path() / "none", "No such file"}}) {
    const auto opened = open_for_reading(path);
    ASSERT_FALSE(opened) << path;
    EXPECT_EQ(opened.error().kind, ErrorKind::input);
    EXPECT_NE(opened.error().message.find(what), std::string::npos) << opened.error().message;
    EXPECT_EQ(file_content(path), std::nullopt);
  }
}

TEST(Files, OfAnotherKindAreNotReadToTheirEnd) {
  const testing::TemporaryFolder folder;
  const auto file = folder.write("large", "not it");
  std::filesystem::resize_file(file, 1UL << 40U);  // sparse: a terabyte
  const auto head = read_file(file, [](std::string_view text) { return text.starts_with("it"); });
  ASSERT_TRUE(head);
  EXPECT_LT(head->size(), 1U << 20U);
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
