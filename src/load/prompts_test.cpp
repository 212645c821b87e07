#include "load/prompts.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"

namespace llmprof::load {
namespace {

PlannedRequest asking_for(uint64_t tokens, std::vector<uint64_t> blocks = {}) {
  PlannedRequest planned;
  planned.prompt_tokens = tokens;
  planned.blocks = std::move(blocks);
  return planned;
}

TEST(Prompts, HaveTheWantedLength) {
  const Prompts prompts(1, std::nullopt);
  const Prompt ids = prompts.make(0, asking_for(300), true);
  EXPECT_EQ(ids.ids.size(), 300U);
  EXPECT_EQ(ids.tokens, 300U);
  EXPECT_EQ(ids.text, "");
  const Prompt words = prompts.make(0, asking_for(300), false);
  EXPECT_EQ(split(words.text, ' ').size(), 300U);
  EXPECT_TRUE(words.ids.empty());
}

TEST(Prompts, DifferBetweenRequestsAndSeedsButNotBetweenRuns) {
  const Prompts prompts(1, std::nullopt);
  const auto first = prompts.make(0, asking_for(50), true).ids;
  EXPECT_EQ(Prompts(1, std::nullopt).make(0, asking_for(50), true).ids, first);
  EXPECT_NE(prompts.make(1, asking_for(50), true).ids, first);
  EXPECT_NE(Prompts(2, std::nullopt).make(0, asking_for(50), true).ids, first);
}

TEST(Prompts, StayWithinAVocabulary) {
  for (const uint64_t vocabulary : {1U, 8U, 96U, 1000U, 32'000U}) {
    const auto ids = Prompts(1, vocabulary).make(0, asking_for(5000), true).ids;
    EXPECT_LT(*std::ranges::max_element(ids), std::max<uint64_t>(vocabulary, 8)) << vocabulary;
  }
}

TEST(Prompts, ShareTheBlocksOfEqualIds) {
  const Prompts prompts(1, std::nullopt);
  const auto one = prompts.make(0, asking_for(1300, {5, 6, 7}), true).ids;
  const auto two = prompts.make(1, asking_for(1100, {5, 6, 8}), true).ids;
  ASSERT_EQ(one.size(), 1300U);
  ASSERT_EQ(two.size(), 1100U);
  const auto [at, other] = std::ranges::mismatch(one, two);
  EXPECT_EQ(at - one.begin(), 1024);
}

TEST(Prompts, ComeFromALineEach) {
  const auto prompts = Prompts::from_lines(
      "A plain question\n\n{\"prompt\": \"from JSON\"}\n{\"prompt\": [1, 2, 3]}\n"
      "{\"messages\": [{\"role\": \"user\", \"content\": \"hi\"}]}\n");
  ASSERT_TRUE(prompts) << prompts.error().message;
  EXPECT_TRUE(prompts->has_messages());
  EXPECT_EQ(prompts->make(0, asking_for(9), true).text, "A plain question");
  EXPECT_EQ(prompts->make(1, asking_for(9), true).text, "from JSON");
  EXPECT_EQ(prompts->make(2, asking_for(9), true).tokens, 3U);
  EXPECT_TRUE(contains(prompts->make(3, asking_for(9), true).messages, "hi"));
  EXPECT_EQ(prompts->make(4, asking_for(9), true).text, "A plain question");
  EXPECT_FALSE(prompts->make(0, asking_for(9), true).tokens);
}

TEST(Prompts, NameTheLineThatCannotBeUsed) {
  for (const char* text :
       {"ok\n{\"prompt\"", "ok\n{\"text\": \"x\"}", "ok\n{\"prompt\": [\"x\"]}"}) {
    const auto prompts = Prompts::from_lines(text);
    ASSERT_FALSE(prompts) << text;
    EXPECT_TRUE(prompts.error().message.starts_with("line 2: ")) << prompts.error().message;
  }
  EXPECT_FALSE(Prompts::from_lines("\n \n"));
}

}  // namespace
}  // namespace llmprof::load
