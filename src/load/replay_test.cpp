#include "load/replay.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace llmprof::load {
namespace {

TEST(ParseReplay, ReadsAzure) {
  const auto replay = parse_replay(
      "TIMESTAMP,ContextTokens,GeneratedTokens\r\n"
      "2023-11-16 23:59:59.9799600,4808,10\r\n"
      "2023-11-17 00:00:00.0319601,3180,8\r\n"
      "yesterday,1,1\r\n"
      "2023-11-17 00:00:01.5,-3,8\r\n"
      "2023-13-17 00:00:01.5,3,8\r\n"
      "1,2\r\n");
  ASSERT_TRUE(replay) << replay.error().message;
  ASSERT_EQ(replay->requests.size(), 2U);
  EXPECT_EQ(replay->requests[1].at_ns - replay->requests[0].at_ns, 52'000'100);
  EXPECT_EQ(replay->requests[0].prompt_tokens, 4808U);
  EXPECT_EQ(replay->requests[0].new_tokens, 10U);
  EXPECT_EQ(replay->skipped, 4U);
  EXPECT_TRUE(replay->first_skipped.starts_with("line 4: ")) << replay->first_skipped;
}

TEST(ParseReplay, ReadsMooncake) {
  const auto replay = parse_replay(
      R"({"timestamp": 27482, "input_length": 6955, "output_length": 52, "hash_ids": [46, 47]})"
      "\n"
      R"({"timestamp": 30535, "input_length": 6472, "output_length": 26, "hash_ids": [46, 2353]})"
      "\n"
      R"({"timestamp": "soon", "input_length": 6472, "output_length": 26})"
      "\n"
      R"({"timestamp": 1, "input_length": 1e300, "output_length": 26})"
      "\n"
      "{\"timestamp\": 305");
  ASSERT_TRUE(replay) << replay.error().message;
  ASSERT_EQ(replay->requests.size(), 2U);
  EXPECT_EQ(replay->requests[1].at_ns - replay->requests[0].at_ns, 3'053'000'000);
  EXPECT_EQ(replay->requests[1].blocks, (std::vector<uint64_t>{46, 2353}));
  EXPECT_EQ(replay->requests[1].new_tokens, 26U);
  EXPECT_EQ(replay->skipped, 3U);
}

TEST(ParseReplay, ReadsItsOwnRecord) {
  const auto replay = parse_replay(R"({"format":"llmprof requests","version":1,
    "requests":[
    {"id":0,"scheduled_ns":1000,"prompt_tokens":5,"max_tokens":7,"chunks":[]},
    {"id":1,"chunks":[]},
    {"id":2,"scheduled_ns":3000,"prompt_tokens":6,"output_tokens":9}]})");
  ASSERT_TRUE(replay) << replay.error().message;
  ASSERT_EQ(replay->requests.size(), 2U);
  EXPECT_EQ(replay->requests[0].new_tokens, 7U);
  EXPECT_EQ(replay->requests[1].at_ns, 3000);
  EXPECT_EQ(replay->requests[1].new_tokens, 9U);
  EXPECT_EQ(replay->skipped, 1U);
}

TEST(ParseReplay, RefusesTheRestWithTheFormatsItReads) {
  for (const char* text : {"", "hello", "{}", "[1]", "{\"requests\":3}", "a,b,c\n1,2,3"}) {
    const auto replay = parse_replay(text);
    ASSERT_FALSE(replay) << text;
    EXPECT_EQ(replay.error().kind, ErrorKind::input);
    EXPECT_TRUE(contains(replay.error().message, "Mooncake")) << text;
  }
  for (const char* text : {"TIMESTAMP,ContextTokens,GeneratedTokens\n", "{\"timestamp\": \"x\"}",
                           "{\"requests\":[]}"}) {
    const auto replay = parse_replay(text);
    ASSERT_FALSE(replay) << text;
    EXPECT_TRUE(contains(replay.error().message, "no request in it")) << replay.error().message;
  }
}

}  // namespace
}  // namespace llmprof::load
