#include "base/files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "testing/temporary_folder.h"

namespace llmprof {
namespace {

namespace fs = std::filesystem;

TEST(NamedFile, IsMadeAndReplaced) {
  const testing::TemporaryFolder folder;
  const fs::path path = folder.path() / "diff.xml";
  ASSERT_TRUE(write_named_file(path, "one"));
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
  ASSERT_TRUE(write_named_file(path, "two"));
  EXPECT_EQ(testing::file_bytes(path), "two");
  EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 1);
}

TEST(NamedFile, ALinkLeadsToTheFile) {
  const testing::TemporaryFolder folder;
  fs::create_directory(folder.path() / "real");
  folder.write("real/old.xml", "old");
  fs::create_symlink("real/old.xml", folder.path() / "link");
  fs::create_symlink("link", folder.path() / "link-to-link");
  fs::create_symlink("real/new.xml", folder.path() / "dangling");
  ASSERT_TRUE(write_named_file(folder.path() / "link-to-link", "new"));
  ASSERT_TRUE(write_named_file(folder.path() / "dangling", "made"));
  EXPECT_EQ(testing::file_bytes(folder.path() / "real/old.xml"), "new");
  EXPECT_EQ(testing::file_bytes(folder.path() / "real/new.xml"), "made");
  for (const char* link : {"link", "link-to-link", "dangling"}) {
    EXPECT_TRUE(fs::is_symlink(folder.path() / link)) << link;
  }
}

TEST(NamedFile, LinksInACircleAreAnError) {
  const testing::TemporaryFolder folder;
  fs::create_symlink("b", folder.path() / "a");
  fs::create_symlink("a", folder.path() / "b");
  const auto done = write_named_file(folder.path() / "a", "x");
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::tool);
  EXPECT_TRUE(fs::is_symlink(folder.path() / "a"));
}

TEST(NamedFile, APipeIsWrittenInto) {
  const testing::TemporaryFolder folder;
  const fs::path pipe = folder.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::string seen;
  std::thread reader([&] {
    std::ifstream stream(pipe, std::ios::binary);
    seen.assign(std::istreambuf_iterator<char>(stream), {});
  });
  const std::string content(200'000, 'x');  // more than a pipe holds
  const auto done = write_named_file(pipe, content);
  reader.join();
  ASSERT_TRUE(done);
  EXPECT_EQ(seen, content);
  EXPECT_TRUE(fs::is_fifo(pipe));
}

// Uses the test's own device nodes if it may make them: as root, a bug would replace the machine's.
fs::path device(const testing::TemporaryFolder& folder, const char* name, unsigned minor) {
  fs::path own = folder.path() / name;
  constexpr unsigned kMemory = 1;
  const bool made = ::mknod(own.c_str(), S_IFCHR | 0666, makedev(kMemory, minor)) == 0;
  return made ? own : fs::path("/dev") / name;
}

TEST(NamedFile, DevicesStayDevices) {
  const testing::TemporaryFolder folder;
  const fs::path null = device(folder, "null", 3);
  ASSERT_TRUE(write_named_file(null, "x"));
  EXPECT_TRUE(fs::is_character_file(null));
  const fs::path full = device(folder, "full", 7);
  const auto done = write_named_file(full, "x");
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::tool);
  EXPECT_NE(done.error().message.find(full.string()), std::string::npos);
  EXPECT_TRUE(fs::is_character_file(full));
}

// gtest redirects stdout to a regular file: it is neither replaced nor written from its start.
TEST(NamedFile, StandardOutputIsPrintedOn) {
  ::testing::internal::CaptureStdout();
  std::printf("before\n");
  EXPECT_TRUE(write_named_file("-", "one\n"));
  EXPECT_TRUE(write_named_file("/dev/stdout", "two\n"));
  EXPECT_TRUE(write_named_file("/dev/fd/1", "three\n"));
  std::printf("after\n");
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "before\none\ntwo\nthree\nafter\n");
}

TEST(NamedFile, AFolderIsAnError) {
  const testing::TemporaryFolder folder;
  const auto done = write_named_file(folder.path(), "x");
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::tool);
}

}  // namespace
}  // namespace llmprof
