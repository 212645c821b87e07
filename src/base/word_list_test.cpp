#include "base/text.h"

#include <gtest/gtest.h>

namespace llmprof {
namespace {

TEST(WordList, HasWholeWordsAlone) {
  constexpr WordList kWords = {"addmm|mm|long long"};
  EXPECT_TRUE(kWords.contains("addmm"));
  EXPECT_TRUE(kWords.contains("mm"));
  EXPECT_TRUE(kWords.contains("long long"));
  EXPECT_FALSE(kWords.contains("add"));
  EXPECT_FALSE(kWords.contains("long"));
  EXPECT_FALSE(kWords.contains("addmm|mm"));
  EXPECT_FALSE(kWords.contains(""));
  EXPECT_FALSE(WordList().contains("mm"));
}

}  // namespace
}  // namespace llmprof
