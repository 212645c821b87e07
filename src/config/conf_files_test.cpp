#include "config/conf_files.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"
#include "testing/temporary_folder.h"

namespace llmprof::config {
namespace {

TEST(ConfFiles, UserLayerLiesOverTheShippedOne) {
  const testing::TemporaryFolder folder;
  folder.write("kernels.yaml", "rules: []\n");
  const auto conf = ConfFiles::open(folder.path());
  ASSERT_TRUE(conf) << conf.error().message;
  const auto layers = conf->layers("kernels.yaml");
  ASSERT_TRUE(layers) << layers.error().message;
  ASSERT_EQ(layers->size(), 2U);
  EXPECT_EQ((*layers)[0].text, "rules: []\n");
  EXPECT_EQ((*layers)[0].name, (folder.path() / "kernels.yaml").string());
  EXPECT_EQ((*layers)[1].text, testing::file_bytes("conf/kernels.yaml"));
}

TEST(ConfFiles, NamesOfAFolderAreThoseOfBothLayers) {
  const testing::TemporaryFolder folder;
  std::filesystem::create_directories(folder.path() / "model/llm");
  folder.write("model/llm/our_own.yaml", "name: ours\n");
  folder.write("model/llm/notes.txt", "no preset\n");
  const auto conf = ConfFiles::open(folder.path());
  ASSERT_TRUE(conf);
  const std::vector<std::string> names = conf->names_in("model/llm");
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  EXPECT_EQ(std::count(names.begin(), names.end(), "our_own"), 1);
  EXPECT_EQ(std::count(names.begin(), names.end(), "llama3_8b"), 1);
  EXPECT_EQ(std::count(names.begin(), names.end(), "notes"), 0);
  EXPECT_TRUE(conf->names_in("no/such/folder").empty());
}

TEST(ConfFiles, WhatIsNotThereIsEmpty) {
  const auto conf = ConfFiles::open(std::nullopt);
  ASSERT_TRUE(conf);
  const auto layers = conf->layers("no_such.yaml");
  ASSERT_TRUE(layers);
  EXPECT_TRUE(layers->empty());
}

TEST(ConfFiles, MissingUserFolderIsAnError) {
  const auto conf = ConfFiles::open("/nonexistent/conf");
  ASSERT_FALSE(conf);
  EXPECT_EQ(conf.error().kind, ErrorKind::usage);
  EXPECT_EQ(conf.error().message, "--config-dir /nonexistent/conf: no such folder");
}

// Everything under conf/ is built into the program, byte for byte.
TEST(BuiltInConf, IsTheShippedFolder) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator("conf")) {
    if (entry.path().extension() != ".yaml") continue;
    files.push_back(std::filesystem::relative(entry.path(), "conf").generic_string());
    const auto built_in = built_in_conf(files.back());
    ASSERT_TRUE(built_in) << files.back();
    EXPECT_EQ(built_in->text, testing::file_bytes(entry.path())) << files.back();
    EXPECT_EQ(built_in->name, "built-in " + files.back());
  }
  std::sort(files.begin(), files.end());
  std::vector<std::string> names;
  for (const std::string_view name : built_in_conf_names()) names.emplace_back(name);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, files);
  EXPECT_FALSE(built_in_conf("no_such.yaml"));
}

}  // namespace
}  // namespace llmprof::config
