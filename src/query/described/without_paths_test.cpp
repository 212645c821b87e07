#include "query/described/without_paths.h"

#include <gtest/gtest.h>

namespace llmprof::query {
namespace {

TEST(WithoutPaths, FilesKeepTheirNames) {
  EXPECT_EQ(without_paths("/home/jo/secret-project/run.sqlite: damaged"), "run.sqlite: damaged");
  EXPECT_EQ(without_paths("see '../a/b.json', runs/x/trace.pt.json.gz"),
            "see 'b.json', trace.pt.json.gz");
  EXPECT_EQ(without_paths("~/run/"), "run");
}

TEST(WithoutPaths, OtherSlashesStay) {
  for (const std::string text : {"12 tokens/s", "copy/cast", "24/7", "FLOP/B, and B/s", ""}) {
    EXPECT_EQ(without_paths(text), text);
  }
}

TEST(WithoutPaths, SecretsAreHidden) {
  EXPECT_EQ(without_paths("HF_TOKEN=hf_abcdefghijklmnop serve").find("abcdef"), std::string::npos);
}

}  // namespace
}  // namespace llmprof::query
