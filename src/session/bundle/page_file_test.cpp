#include "session/bundle/page_file.h"

#include <gtest/gtest.h>

#include <fstream>

#include "page/page.h"
#include "testing/temporary_folder.h"

namespace llmprof::session {
namespace {

TEST(PageFile, WithoutABundleItSaysHowToGetIt) {
  const testing::TemporaryFolder folder;
  std::ofstream(folder.path() / "report.html") << "of an earlier program";
  const auto outcome = write_page_file(std::nullopt, folder.path(),
                                       [](const page::Bundle&) { return std::string(); });
  ASSERT_TRUE(outcome);
  EXPECT_FALSE(outcome->file);
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "report.html"));
  EXPECT_EQ(outcome->left_out->find("report.html was left out: "), 0U);
  EXPECT_NE(outcome->left_out->find("build it again"), std::string::npos);
}

TEST(PageFile, WithOneItIsWritten) {
  const testing::TemporaryFolder folder;
  const profile::Profile profile;
  const page::Content content{profile, "{}", {}, "a reason"};
  const auto outcome =
      write_page_file(page::Bundle{"1", "", "00"}, folder.path(),
                      [&](const page::Bundle& own) { return page::make_page(own, content); });
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->file, folder.path() / "report.html");
  EXPECT_TRUE(std::filesystem::exists(*outcome->file));
  EXPECT_FALSE(outcome->left_out);
}

}  // namespace
}  // namespace llmprof::session
