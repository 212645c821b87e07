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

TEST(WithoutFullPaths, OnlyFullPathsAreShortened) {
  EXPECT_EQ(without_full_paths("load /home/jo/secret-project/model.bin"), "load model.bin");
  EXPECT_EQ(without_full_paths("file:///srv/x/y.py:12, ~/a/b/"), "y.py:12, b");
  EXPECT_EQ(without_full_paths("lambda at /build/jo/kernel.cu:12:3>"), "lambda at kernel.cu:12:3>");
  for (const std::string text :
       {"model/layers/0/attention.q", "jit(f)/transformer/layer_0/mlp", "a / b", "12 tokens/s",
        "https://host/v1/completions", "copy/cast", "/"}) {
    EXPECT_EQ(without_full_paths(text), text);
  }
}

TEST(WithoutFullPaths, SecretsAreHidden) {
  EXPECT_EQ(without_full_paths("API_KEY=sk-abcdefghijklmnopqrst /x/y").find("abcdef"),
            std::string::npos);
  EXPECT_EQ(without_full_paths("HF_TOKEN=hf_abcdefghijklmnop").find("abcdef"), std::string::npos);
}

}  // namespace
}  // namespace llmprof::query
