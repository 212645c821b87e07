#include "cpu_llm/sampling.h"

#include <gtest/gtest.h>

namespace cpu_llm {
namespace {

TEST(Sampling, TakesTheFirstOfTheLikeliest) {
  const std::vector<float> logits = {-3, 2, 2, -1, /**/ 0, -1, -2, 9, /**/ -4, -5, -6, -7};
  EXPECT_EQ(most_likely(logits, 4), (std::vector<Token>{1, 3, 0}));
}

// The published FNV-1a of the letter "a"; three zero bytes after it only multiply.
TEST(Sampling, HashesTokens) {
  EXPECT_EQ(TokenHash().value(), 0xcbf29ce484222325U);
  TokenHash hash;
  hash.add(std::vector<Token>{0x61});
  uint64_t expected = 0xaf63dc4c8601ec8cU;
  for (int zero = 0; zero < 3; ++zero) expected *= 0x100000001b3U;
  EXPECT_EQ(hash.value(), expected);
  TokenHash other;
  other.add(std::vector<Token>{1, 2});
  TokenHash swapped;
  swapped.add(std::vector<Token>{2, 1});
  EXPECT_NE(other.value(), swapped.value());
}

}  // namespace
}  // namespace cpu_llm
