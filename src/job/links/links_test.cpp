#include "job/links/links.h"

#include <gtest/gtest.h>

#include "testing/temporary_folder.h"

namespace llmprof::job {
namespace {

Result<Links> load_with(const std::string& text) {
  const testing::TemporaryFolder folder;
  folder.write("links.yaml", text);
  const auto conf = config::ConfFiles::open(folder.path());
  if (!conf) return fail_with(conf.error());
  return Links::load(*conf);
}

TEST(Links, KnowsWhatIsListedAndGuessesNothing) {
  const auto conf = config::ConfFiles::open(std::nullopt);
  ASSERT_TRUE(conf);
  const auto links = Links::load(*conf);
  ASSERT_TRUE(links) << links.error().message;
  ASSERT_TRUE(links->inside_host("H200 SXM"));
  EXPECT_EQ(links->inside_host("H200 SXM")->kind, profile::LinkKind::nvlink);
  EXPECT_EQ(links->inside_host("H200 SXM")->bandwidth, 450e9);
  EXPECT_EQ(links->inside_host("L40S")->kind, profile::LinkKind::pcie);
  EXPECT_FALSE(links->inside_host("H200"));
  EXPECT_FALSE(links->inside_host(""));
  EXPECT_FALSE(links->between_hosts().bandwidth);
}

TEST(Links, TakesTheUsersFirst) {
  const auto links = load_with(
      "inside_host:\n- {link: nvlink, gb_per_s: 56.25, gpus: [RTX 3090]}\nnetwork: {gb_per_s: "
      "50}\n");
  ASSERT_TRUE(links) << links.error().message;
  EXPECT_EQ(links->inside_host("RTX 3090")->kind, profile::LinkKind::nvlink);
  EXPECT_EQ(links->inside_host("H200 SXM")->bandwidth, 450e9);
  EXPECT_EQ(links->between_hosts().bandwidth, 50e9);
}

TEST(Links, NamesWhatIsWrong) {
  const auto message = [](const std::string& text) {
    const auto links = load_with(text);
    return links ? std::string() : links.error().message;
  };
  EXPECT_NE(message("inside_host:\n- {link: nvlink, gb_per_s: fast, gpus: [A]}\n").find("fast"),
            std::string::npos);
  EXPECT_NE(message("inside_host:\n- {link: rope, gb_per_s: 1, gpus: [A]}\n").find(":2:"),
            std::string::npos);
  EXPECT_NE(message("inside_host:\n- {link: pcie, gpus: [A]}\n").find("gb_per_s"),
            std::string::npos);
  EXPECT_NE(message("inside_host:\n- {link: pcie, gb_per_s: 1}\n").find("gpus"), std::string::npos);
  EXPECT_NE(message("inside: 1\n").find("inside_host"), std::string::npos);
  EXPECT_NE(message("inside_host: 3\n").find("list"), std::string::npos);
}

}  // namespace
}  // namespace llmprof::job
