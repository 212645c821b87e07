#include "session/bundle/run_dir.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <future>
#include <set>

#include "base/needed.h"
#include "session/bundle/bundle_files.h"
#include "testing/temporary_folder.h"

namespace llmprof::session {
namespace {

namespace fs = std::filesystem;
using testing::file_bytes;
using testing::TemporaryFolder;

bool can_create(const fs::path& root) {
  return attempt([&] { return Artifacts::create(root, true); }).has_value();
}

TEST(RunDir, RunsThatBeginAtTheSameMomentNeverShareAFolder) {
  const TemporaryFolder folder;
  std::vector<std::future<fs::path>> runs;
  for (int i = 0; i < 16; ++i) {
    runs.push_back(std::async(std::launch::async, [&] {
      return Artifacts::create_fresh(folder.path() / "tmp" / "stage2").root();
    }));
  }
  std::set<fs::path> roots;
  for (auto& run : runs) roots.insert(run.get());
  EXPECT_EQ(roots.size(), 16);
  for (const fs::path& root : roots) EXPECT_TRUE(fs::is_directory(root)) << root;
}

TEST(RunDir, ARunHasTheToolsFoldersFromItsStart) {
  const TemporaryFolder folder;
  const auto fresh = create_stage2_root(folder.path(), {}, false);
  EXPECT_EQ(fresh.bundle.root().parent_path(), folder.path());
  EXPECT_TRUE(fs::is_directory(fresh.bundle.path("nsys")));
  EXPECT_TRUE(fs::is_directory(fresh.bundle.path("ncu")));
  EXPECT_FALSE(fresh.earlier);
  const auto chosen = create_stage2_root(folder.path(), folder.path() / "mine", false);
  EXPECT_EQ(chosen.bundle.root(), folder.path() / "mine");
}

TEST(RunDir, NothingCapturedIsOverwrittenWithoutForce) {
  const TemporaryFolder folder;
  (void)folder.write("kept.txt", "kept");
  const auto refused = attempt([&] { return create_stage2_root({}, folder.path(), false); });
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::usage);
  EXPECT_NE(refused.error().message.find("--force"), std::string::npos);
  (void)create_stage2_root({}, folder.path(), true);
  EXPECT_EQ(file_bytes(folder.path() / "kept.txt"), "kept");
}

TEST(RunDir, ARunDoesNotShareItsFolderWithAnEarlierOne) {
  const TemporaryFolder folder;
  (void)folder.write("notes.txt", "mine");
  fs::create_directory(folder.path() / "collector");
  fs::create_directory(folder.path() / "torch");
  for (const char* name : {"env.json", "report.md", "collector/1.llmtrace"}) {
    (void)folder.write(name, name);
  }
  for (const char* aside : {"previous-1", "previous-2"}) {
    const auto again = create_stage2_root({}, folder.path(), true);
    ASSERT_EQ(again.earlier, folder.path() / aside);
    EXPECT_FALSE(fs::exists(folder.path() / "collector"));
    EXPECT_TRUE(fs::is_empty(folder.path() / "torch"));  // nothing to keep
    EXPECT_EQ(file_bytes(folder.path() / aside / "env.json"), "env.json");
    EXPECT_EQ(file_bytes(folder.path() / "notes.txt"), "mine");
    (void)folder.write("env.json", "env.json");
  }
  EXPECT_EQ(file_bytes(folder.path() / "previous-1/collector/1.llmtrace"), "collector/1.llmtrace");
  fs::remove(folder.path() / "env.json");
  EXPECT_FALSE(create_stage2_root({}, folder.path(), true).earlier);
}

TEST(RunDir, OneProcessWritesIntoAFolderAtATime) {
  const TemporaryFolder folder;
  const fs::path root = folder.path() / "out";
  std::optional<Artifacts> mine = Artifacts::create(root, false);
  EXPECT_TRUE(can_create(root)) << "this process has it already";
  const auto in_another_process = [&] {
    const pid_t child = ::fork();
    if (child == 0)
      ::_exit(::flock(::open(root.c_str(), O_RDONLY), LOCK_EX | LOCK_NB) == 0 ? 0 : 1);
    int status = -1;
    ::waitpid(child, &status, 0);
    return WEXITSTATUS(status) == 0;
  };
  EXPECT_FALSE(in_another_process());
  mine.reset();
  EXPECT_TRUE(in_another_process());
}

TEST(RunDir, AFolderThatAnotherProcessHasIsRefused) {
  const TemporaryFolder folder;
  int ready[2];
  int done[2];
  ASSERT_EQ(::pipe(ready), 0);
  ASSERT_EQ(::pipe(done), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(done[1]);
    ::flock(::open(folder.path().c_str(), O_RDONLY), LOCK_EX);
    char byte = 'x';
    if (::write(ready[1], &byte, 1) == 1) (void)!::read(done[0], &byte, 1);
    ::_exit(0);
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  const auto refused = attempt([&] { return Artifacts::create(folder.path(), true); });
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::usage);
  EXPECT_NE(refused.error().message.find("another llmprof"), std::string::npos);
  ::close(done[1]);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(can_create(folder.path())) << "a process that is gone has nothing";
}

TEST(RunDir, RefusesAFileWhereTheFolderShouldBe) {
  const TemporaryFolder folder;
  const fs::path file = folder.write("file", "");
  EXPECT_FALSE(can_create(file));
  EXPECT_FALSE(list_artifacts(file));
  EXPECT_FALSE(attempt([&] { return Artifacts::create_fresh(file / "below"); }));
}

TEST(RunDir, TheThreeRecordsHaveTheirNames) {
  const TemporaryFolder folder;
  const Artifacts bundle(folder.path());
  bundle.write("env.json", "{}");
  bundle.write("config.yaml", "a: 1\n");
  bundle.write("inputs.yaml", "b: 2\n");
  EXPECT_EQ(file_bytes(folder.path() / "env.json"), "{}");
  EXPECT_EQ(file_bytes(folder.path() / "config.yaml"), "a: 1\n");
  EXPECT_EQ(file_bytes(folder.path() / "inputs.yaml"), "b: 2\n");
}

}  // namespace
}  // namespace llmprof::session
