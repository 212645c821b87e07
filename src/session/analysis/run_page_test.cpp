#include "session/analysis/run_page.h"

#include <gtest/gtest.h>

#include <fstream>

#include "testing/temporary_folder.h"

namespace llmprof::session {
namespace {

TEST(RunPage, WithoutABundleItSaysHowToGetIt) {
  const testing::TemporaryFolder folder;
  std::ofstream(folder.path() / "report.html") << "of an earlier program";
  const profile::Profile profile;
  const page::Content content{profile, "{}", {}, std::nullopt};
  const auto outcome = write_run_page(std::nullopt, content, folder.path());
  ASSERT_TRUE(outcome);
  EXPECT_FALSE(outcome->file);
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "report.html"));
  EXPECT_EQ(outcome->left_out->find("report.html was left out: "), 0U);
  EXPECT_NE(outcome->left_out->find("build it again"), std::string::npos);
}

TEST(RunPage, WithOneItIsWritten) {
  const testing::TemporaryFolder folder;
  const profile::Profile profile;
  const page::Content content{profile, "{}", {}, "a reason"};
  const auto outcome = write_run_page(page::Bundle{"1", "", "00"}, content, folder.path());
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->file, folder.path() / "report.html");
  EXPECT_TRUE(std::filesystem::exists(*outcome->file));
  EXPECT_FALSE(outcome->left_out);
}

}  // namespace
}  // namespace llmprof::session
