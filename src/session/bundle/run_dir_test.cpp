#include "session/bundle/run_dir.h"

#include <gtest/gtest.h>

#include <future>
#include <set>

#include "testing/temporary_folder.h"

namespace llmprof::session {
namespace {

namespace fs = std::filesystem;
using testing::file_bytes;
using testing::TemporaryFolder;

TEST(RunDir, RunsThatBeginAtTheSameMomentNeverShareAFolder) {
  const TemporaryFolder folder;
  std::vector<std::future<fs::path>> runs;
  for (int i = 0; i < 16; ++i) {
    runs.push_back(std::async(std::launch::async, [&] {
      return Artifacts::create_fresh(folder.path() / "tmp" / "stage2")->root();
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
  ASSERT_TRUE(fresh) << fresh.error().message;
  EXPECT_EQ(fresh->root().parent_path(), folder.path());
  EXPECT_TRUE(fs::is_directory(fresh->path("nsys")));
  EXPECT_TRUE(fs::is_directory(fresh->path("ncu")));
  const auto chosen = create_stage2_root(folder.path(), folder.path() / "mine", false);
  ASSERT_TRUE(chosen) << chosen.error().message;
  EXPECT_EQ(chosen->root(), folder.path() / "mine");
}

TEST(RunDir, NothingCapturedIsOverwrittenWithoutForce) {
  const TemporaryFolder folder;
  (void)folder.write("kept.txt", "kept");
  const auto refused = create_stage2_root({}, folder.path(), false);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::usage);
  EXPECT_NE(refused.error().message.find("--force"), std::string::npos);
  ASSERT_TRUE(create_stage2_root({}, folder.path(), true));
  EXPECT_EQ(file_bytes(folder.path() / "kept.txt"), "kept");
}

TEST(RunDir, AFileWhereTheFolderShouldBeIsToldAsSuch) {
  const TemporaryFolder folder;
  const fs::path file = folder.write("file", "");
  EXPECT_FALSE(Artifacts::create(file, true));
  EXPECT_FALSE(Artifacts::from_root(file));
  EXPECT_FALSE(Artifacts::create_fresh(file / "below"));
}

TEST(RunDir, TheThreeRecordsHaveTheirNames) {
  const TemporaryFolder folder;
  const auto bundle = Artifacts::from_root(folder.path());
  ASSERT_TRUE(bundle);
  ASSERT_TRUE(bundle->write_env("{}"));
  ASSERT_TRUE(bundle->write_config("a: 1\n"));
  ASSERT_TRUE(bundle->write_inputs("b: 2\n"));
  EXPECT_EQ(file_bytes(folder.path() / "env.json"), "{}");
  EXPECT_EQ(file_bytes(folder.path() / "config.yaml"), "a: 1\n");
  EXPECT_EQ(file_bytes(folder.path() / "inputs.yaml"), "b: 2\n");
}

}  // namespace
}  // namespace llmprof::session
