#include "load/answer.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/text.h"

namespace llmprof::load {
namespace {

std::vector<uint64_t> read(AnswerReader& reader, const std::vector<const char*>& events) {
  std::vector<uint64_t> tokens;
  for (const char* event : events) tokens.push_back(reader.tokens_in(event));
  return tokens;
}

TEST(AnswerReader, CountsACompletionByItsChunks) {
  AnswerReader reader;
  EXPECT_EQ(read(reader, {R"({"choices":[{"text":" a","finish_reason":null}],"usage":null})",
                          R"({"choices":[{"text":""}]})", R"({"choices":[{"text":" b c"}]})"}),
            (std::vector<uint64_t>{1, 0, 1}));
  EXPECT_FALSE(reader.has_ended());
  EXPECT_EQ(read(reader, {R"({"choices":[{"text":" d","finish_reason":"length"}]})",
                          R"({"choices":[],"usage":{"prompt_tokens":12,"completion_tokens":4,
                             "prompt_tokens_details":{"cached_tokens":8}}})",
                          "[DONE]"}),
            (std::vector<uint64_t>{1, 0, 0}));
  EXPECT_TRUE(reader.has_ended());
  EXPECT_EQ(reader.counted_by(), TokenCount::chunks);
  EXPECT_EQ(reader.tokens(), 3U);
  EXPECT_EQ(reader.output_tokens, 4U);
  EXPECT_EQ(reader.prompt_tokens, 12U);
  EXPECT_EQ(reader.cached_tokens, 8U);
  EXPECT_EQ(reader.error(), "");
}

TEST(AnswerReader, CountsByTheUsageOfEachChunk) {
  AnswerReader reader;
  EXPECT_EQ(
      read(
          reader,
          {R"({"choices":[{"delta":{"role":"assistant","content":""}}],"usage":{"completion_tokens":0}})",
           R"({"choices":[{"delta":{"content":"a b c"}}],"usage":{"completion_tokens":3}})",
           R"({"choices":[{"delta":{"content":""}}],"usage":{"completion_tokens":4}})",
           R"({"choices":[{"delta":{"content":"x"}}],"usage":{"completion_tokens":6}})",
           R"({"choices":[],"usage":{"completion_tokens":6}})"}),
      (std::vector<uint64_t>{0, 3, 1, 2, 0}));
  EXPECT_EQ(reader.counted_by(), TokenCount::usage);
  EXPECT_EQ(reader.tokens(), 6U);
}

TEST(AnswerReader, DoesNotGiveTheLastChunkTheTokensOfOthers) {
  AnswerReader reader;
  EXPECT_EQ(read(reader, {R"({"choices":[{"text":"a b"}]})", R"({"choices":[{"text":"c d"}]})",
                          R"({"choices":[{"text":"e","finish_reason":"stop"}],
                             "usage":{"completion_tokens":9}})"}),
            (std::vector<uint64_t>{1, 1, 1}));
  EXPECT_EQ(reader.output_tokens, 9U);
}

TEST(AnswerReader, ReadsLlamaServer) {
  AnswerReader reader;
  EXPECT_EQ(
      read(
          reader,
          {R"({"content":"","tokens":[],"stop":false,"prompt_progress":{"total":9,"processed":4}})",
           R"({"content":"","tokens":[523],"stop":false})",
           R"({"content":"é!","tokens":[17,4],"stop":false})",
           R"({"content":"","tokens":[],"stop":true,"tokens_predicted":3,"tokens_evaluated":9,
               "timings":{"cache_n":2,"prompt_ms":12.5}})"}),
      (std::vector<uint64_t>{0, 1, 2, 0}));
  EXPECT_TRUE(reader.has_ended());
  EXPECT_EQ(reader.counted_by(), TokenCount::lists);
  EXPECT_EQ(reader.output_tokens, 3U);
  EXPECT_EQ(reader.prompt_tokens, 9U);
  EXPECT_EQ(reader.cached_tokens, 2U);
  EXPECT_TRUE(contains(reader.timings, "\"prompt_ms\":12.5"));
}

TEST(AnswerReader, CountsReasoningAndToolCalls) {
  AnswerReader reader;
  EXPECT_EQ(read(reader, {R"({"choices":[{"delta":{"reasoning_content":"hm"}}]})",
                          R"({"choices":[{"delta":{"tool_calls":[{"index":0}]}}]})",
                          R"({"choices":[{"delta":{"tool_calls":[]}}]})"}),
            (std::vector<uint64_t>{1, 1, 0}));
}

TEST(AnswerReader, ReportsAnErrorInTheStream) {
  AnswerReader reader;
  reader.tokens_in(R"({"error":{"message":"out of memory\u001b[2J","code":500}})");
  EXPECT_TRUE(reader.error().starts_with("out of memory"));
  EXPECT_FALSE(contains(reader.error(), "\x1b"));
}

TEST(AnswerReader, SurvivesWhatIsNoAnswer) {
  for (const char* data :
       {"", "garbage", "{", "[]", "null", "3", "{}", R"({"choices":3})", R"({"choices":[]})",
        R"({"choices":[3]})", R"({"choices":[{"delta":3}]})", R"({"choices":[{"text":3}]})",
        R"({"usage":3})", R"({"usage":{"completion_tokens":-1}})", R"({"content":3})",
        R"({"tokens":{}})", R"({"stop":"yes"})", R"({"error":null})", R"({"timings":[]})"}) {
    AnswerReader reader;
    EXPECT_EQ(reader.tokens_in(data), 0U) << data;
    EXPECT_FALSE(reader.has_ended()) << data;
  }
  AnswerReader reader;
  reader.tokens_in("<html>");
  EXPECT_FALSE(reader.error().empty());
}

TEST(AnswerReader, ReadsAnAnswerThatIsNoStream) {
  AnswerReader reader;
  EXPECT_EQ(reader.tokens_in_whole(R"({"choices":[{"message":{"content":"a b c d"},
                                      "finish_reason":"stop"}],"usage":{"completion_tokens":4}})"),
            4U);
  EXPECT_TRUE(reader.has_ended());
  EXPECT_EQ(reader.tokens(), 4U);
}

TEST(MessageIn, FindsWhatServersSay) {
  EXPECT_EQ(message_in(R"({"error":{"message":"no such model","type":"x"}})"), "no such model");
  EXPECT_EQ(message_in(R"({"object":"error","message":"no such model"})"), "no such model");
  EXPECT_EQ(message_in(R"({"detail":"Not Found"})"), "Not Found");
  EXPECT_EQ(message_in("  Bad\nGateway "), "Bad Gateway");
  EXPECT_LE(message_in(std::string(10'000, 'x')).size(), 310U);
}

}  // namespace
}  // namespace llmprof::load
