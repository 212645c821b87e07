#include "session/bundle/bundle_files.h"

#include <gtest/gtest.h>

#include <fstream>

#include "page/page.h"
#include "testing/temporary_folder.h"

namespace llmprof::session {
namespace {

using testing::TemporaryFolder;

TEST(ListArtifacts, NamesSizesAndKindsOfEveryFile) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.path() / "ncu");
  (void)folder.write("env.json", "{}");
  (void)folder.write("ncu/raw.csv", "12345");
  (void)folder.write("ncu/cmd.txt", "ncu");
  (void)folder.write("surprise", "");
  const auto list = list_artifacts(folder.path());
  ASSERT_TRUE(list) << list.error().message;
  ASSERT_EQ(list->files.size(), 4);
  EXPECT_EQ(list->files[0].name, "env.json");
  EXPECT_EQ(list->files[0].kind, "provenance");
  EXPECT_EQ(list->files[1].name, "ncu/cmd.txt");
  EXPECT_EQ(list->files[1].kind, "command line");
  EXPECT_EQ(list->files[2].name, "ncu/raw.csv");
  EXPECT_EQ(list->files[2].bytes, 5);
  EXPECT_EQ(list->files[2].kind, "ncu metrics");
  EXPECT_EQ(list->files[3].kind, "other");
}

TEST(ListArtifacts, NoRunIsAnErrorNotAnEmptyList) {
  const TemporaryFolder folder;
  EXPECT_FALSE(list_artifacts(folder.path()));
  const auto missing = list_artifacts(folder.path() / "20260101-000000");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::input);
}

TEST(PageFile, WithoutABundleItSaysHowToGetIt) {
  const testing::TemporaryFolder folder;
  std::ofstream(folder.path() / "report.html") << "of an earlier program";
  const auto outcome = write_page_file(std::nullopt, folder.path(),
                                       [](const page::Bundle&) { return std::string(); });
  EXPECT_FALSE(outcome.file);
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "report.html"));
  EXPECT_EQ(outcome.left_out->find("report.html was left out: "), 0U);
  EXPECT_NE(outcome.left_out->find("build it again"), std::string::npos);
}

TEST(PageFile, WithOneItIsWritten) {
  const testing::TemporaryFolder folder;
  const profile::Profile profile;
  const page::Content content{profile, "{}", {}, "a reason"};
  const auto outcome =
      write_page_file(page::Bundle{"1", "", "00"}, folder.path(),
                      [&](const page::Bundle& own) { return page::make_page(own, content); });
  EXPECT_EQ(outcome.file, folder.path() / "report.html");
  EXPECT_TRUE(std::filesystem::exists(*outcome.file));
  EXPECT_FALSE(outcome.left_out);
}

}  // namespace
}  // namespace llmprof::session
