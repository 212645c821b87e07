#include "load/api.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "load/lateness.h"
#include "load/quantities.h"

namespace llmprof::load {
namespace {

using nlohmann::json;

TEST(ApiOfPath, KnowsTheEndpoints) {
  EXPECT_EQ(api_of_path("/v1/completions"), Api::completions);
  EXPECT_EQ(api_of_path("/serve/v1/chat/completions/"), Api::chat);
  EXPECT_EQ(api_of_path("/completion"), Api::llama_cpp);
  EXPECT_EQ(api_of_path("/"), std::nullopt);
  EXPECT_EQ(api_of_path("/v1"), std::nullopt);
}

TEST(BodyOf, AsksEachApiForAStreamOfSoManyTokens) {
  Prompt prompt;
  prompt.ids = {5, 6};
  const json llama = json::parse(body_of({Api::llama_cpp, "", true, true}, prompt, 7));
  EXPECT_EQ(llama["prompt"], json({5, 6}));
  EXPECT_EQ(llama["n_predict"], 7);
  EXPECT_EQ(llama["ignore_eos"], true);
  EXPECT_FALSE(llama.contains("model"));

  const json ids = json::parse(body_of({Api::completions, "m", true, true}, prompt, 7));
  EXPECT_EQ(ids["max_tokens"], 7);
  EXPECT_EQ(ids["model"], "m");
  EXPECT_EQ(ids["ignore_eos"], true);
  EXPECT_EQ(ids["stream_options"]["continuous_usage_stats"], true);

  const json plain = json::parse(body_of({Api::completions, "m", true, false}, prompt, 7));
  EXPECT_FALSE(plain.contains("ignore_eos"));
  EXPECT_EQ(plain["stream_options"], json({{"include_usage", true}}));

  prompt = {};
  prompt.text = "say \"hi\"\xFF";
  const json chat = json::parse(body_of({Api::chat, "m", false, true}, prompt, 7));
  EXPECT_EQ(chat["messages"][0]["role"], "user");
  EXPECT_EQ(chat["messages"][0]["content"], "say \"hi\"\xEF\xBF\xBD");
  EXPECT_EQ(chat["stream"], true);
}

TEST(ParseDuration, TakesUnits) {
  EXPECT_EQ(parse_duration_ns("500ms", "--x"), 500'000'000);
  EXPECT_EQ(parse_duration_ns("2", "--x"), 2'000'000'000);
  EXPECT_EQ(parse_duration_ns("1.5 m", "--x"), 90'000'000'000);
  EXPECT_EQ(parse_duration_ns("1h", "--x"), 3'600'000'000'000);
  for (const char* text : {"", "0", "-1s", "x", "5d", "inf", "nan", "1e30s"}) {
    const auto parsed = parse_duration_ns(text, "--x");
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().kind, ErrorKind::usage);
  }
}

TEST(ParseSweep, TakesRatesAndConcurrency) {
  EXPECT_EQ(parse_sweep("rate=0.5,1,2")->values, (std::vector<double>{0.5, 1, 2}));
  EXPECT_FALSE(parse_sweep("concurrency=1,8")->is_rate);
  for (const char* text :
       {"", "rate", "rate=", "rate=0", "concurrency=1.5", "speed=1", "rate=1,,2"}) {
    EXPECT_FALSE(parse_sweep(text)) << text;
  }
}

TEST(Lateness, IsMeasuredByNearestRank) {
  std::vector<int64_t> values;
  for (int64_t i = 100; i >= 1; --i) values.push_back(i * 1000);
  const auto measured = measure_lateness(values);
  EXPECT_EQ(measured->p50_ns, 50'000);
  EXPECT_EQ(measured->p99_ns, 99'000);
  EXPECT_EQ(measured->max_ns, 100'000);
  EXPECT_FALSE(measure_lateness({}));
}

TEST(Lateness, RefusesALoadThatWasNotHeld) {
  constexpr double kGap2Ms = 2e6;
  constexpr double kGap100Ms = 1e8;
  std::vector<int64_t> values(1000, 50'000);
  EXPECT_FALSE(why_not_held(values, kGap2Ms));
  // One of a hundred may be late; two of a hundred may not.
  std::fill_n(values.begin(), 10, 5'000'000);
  EXPECT_FALSE(why_not_held(values, kGap2Ms));
  std::fill_n(values.begin(), 20, 5'000'000);
  EXPECT_TRUE(why_not_held(values, kGap2Ms));
  // 5 ms is less than a tenth of 100 ms.
  EXPECT_FALSE(why_not_held(values, kGap100Ms));
}

TEST(Lateness, RefusesALoadThatFellBehind) {
  std::vector<int64_t> values(10'000, 50'000);
  for (size_t i = 9'940; i < values.size(); ++i) values[i] = 2'000'000;
  EXPECT_FALSE(why_not_held(values, 2e6));
  for (size_t i = 9'400; i < values.size(); ++i) values[i] = 2'000'000;
  const auto why = why_not_held(values, 2e6);
  ASSERT_TRUE(why);
  EXPECT_TRUE(why->starts_with("it fell behind")) << *why;
}

}  // namespace
}  // namespace llmprof::load
