#include "cpu_llm_server/completions.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

namespace cpu_llm_server {
namespace {

using Json = nlohmann::json;
constexpr size_t kVocabulary = 64;

CompletionRequest read(Api api, std::string_view body) {
  auto request = read_completion_request(api, body, kVocabulary);
  EXPECT_TRUE(request) << request.error().message;
  return request.value_or(CompletionRequest());
}

std::string refusal(Api api, std::string_view body) {
  const auto request = read_completion_request(api, body, kVocabulary);
  return request ? "" : request.error().message;
}

TEST(CpuLlmCompletions, APromptIsTokenIdsOrWords) {
  EXPECT_EQ(read(Api::completions, R"({"prompt": [3, 4, 67]})").prompt,
            (std::vector<Token>{3, 4, 3}));
  EXPECT_EQ(read(Api::completions, R"({"prompt": [[3, 4]]})").prompt, (std::vector<Token>{3, 4}));
  const auto words = read(Api::completions, R"({"prompt": " one two  one\n"})").prompt;
  ASSERT_EQ(words.size(), 3U);
  EXPECT_EQ(words[0], words[2]);
  EXPECT_NE(words[0], words[1]);
  EXPECT_EQ(read(Api::completions, R"({"prompt": ["one two  one"]})").prompt, words);
  for (const Token token : words) {
    EXPECT_GT(token, kEndToken);
    EXPECT_LT(token, static_cast<Token>(kVocabulary));
  }
}

TEST(CpuLlmCompletions, MessagesAreOnePrompt) {
  const auto prompt = read(Api::chat, R"({"messages": [
      {"role": "system", "content": "one two"},
      {"role": "user", "content": [{"type": "text", "text": "three one"}]}]})")
                          .prompt;
  ASSERT_EQ(prompt.size(), 4U);
  EXPECT_EQ(prompt[0], prompt[3]);
}

TEST(CpuLlmCompletions, LimitsAndStreamAreTheRequests) {
  const auto usual = read(Api::completions, R"({"prompt": "a"})");
  EXPECT_EQ(usual.limits.max_tokens, 16U);
  EXPECT_EQ(usual.limits.end_token, kEndToken);
  EXPECT_FALSE(usual.stream);
  const auto other = read(Api::completions, R"({"prompt": "a", "max_tokens": 5, "stream": true,
      "ignore_eos": true, "stream_options": {"include_usage": true}, "temperature": 0.7})");
  EXPECT_EQ(other.limits.max_tokens, 5U);
  EXPECT_EQ(other.limits.end_token, std::nullopt);
  EXPECT_TRUE(other.stream);
  EXPECT_TRUE(other.include_usage);
  EXPECT_EQ(read(Api::chat, R"({"messages": [{"content": "a"}], "max_completion_tokens": 3,
      "max_tokens": 9})")
                .limits.max_tokens,
            3U);
}

TEST(CpuLlmCompletions, BadBodiesAreRefusedWithTheReason) {
  EXPECT_EQ(refusal(Api::completions, "{"), "the body must be a JSON object");
  EXPECT_EQ(refusal(Api::completions, "[]"), "the body must be a JSON object");
  EXPECT_EQ(refusal(Api::completions, "{}"), "prompt is missing");
  EXPECT_EQ(refusal(Api::chat, R"({"prompt": "a"})"), "messages is missing");
  EXPECT_EQ(refusal(Api::completions, R"({"prompt": " "})"), "prompt is empty");
  for (const char* body :
       {R"({"prompt": 5})", R"({"prompt": ["a", "b"]})", R"({"prompt": [1, -2]})",
        R"({"prompt": [[1], [2]]})", R"({"prompt": "a", "max_tokens": 0})",
        R"({"prompt": "a", "max_tokens": 1e30})", R"({"prompt": "a", "max_tokens": "9"})",
        R"({"prompt": "a", "stream": 1})", R"({"prompt": "a", "n": 2})"}) {
    EXPECT_NE(refusal(Api::completions, body), "") << body;
  }
  for (const char* body :
       {R"({"messages": "a"})", R"({"messages": ["a"]})", R"({"messages": [{"role": "user"}]})",
        R"({"messages": [{"content": [5]}]})", R"({"messages": [{"content": [{"text": 5}]}]})"}) {
    EXPECT_NE(refusal(Api::chat, body), "") << body;
  }
}

Completion completion(Api api) {
  Completion made;
  made.api = api;
  made.id = "cmpl-7";
  made.model = "tiny";
  made.created = 1700000000;
  made.prompt_tokens = 4;
  made.tokens = {5, 6};
  made.finish = FinishReason::length;
  return made;
}

Json data_of(const std::string& event) {
  EXPECT_TRUE(event.starts_with("data: "));
  EXPECT_TRUE(event.ends_with("\n\n"));
  return Json::parse(event.substr(6));
}

TEST(CpuLlmCompletions, AnswersAreInOpenAisForm) {
  const Json text = Json::parse(completion_json(completion(Api::completions)));
  EXPECT_EQ(text["object"], "text_completion");
  EXPECT_EQ(text["choices"][0]["text"], " w5 w6");
  EXPECT_EQ(text["choices"][0]["finish_reason"], "length");
  EXPECT_EQ(text["usage"]["prompt_tokens"], 4);
  EXPECT_EQ(text["usage"]["completion_tokens"], 2);
  EXPECT_EQ(text["usage"]["total_tokens"], 6);
  const Json chat = Json::parse(completion_json(completion(Api::chat)));
  EXPECT_EQ(chat["object"], "chat.completion");
  EXPECT_EQ(chat["choices"][0]["message"]["content"], " w5 w6");
}

TEST(CpuLlmCompletions, EventsAreInOpenAisForm) {
  const Json text = data_of(token_event(completion(Api::completions), 9, FinishReason::none));
  EXPECT_EQ(text["choices"][0]["text"], " w9");
  EXPECT_TRUE(text["choices"][0]["finish_reason"].is_null());
  EXPECT_FALSE(text.contains("usage"));
  const Json chat = data_of(token_event(completion(Api::chat), 9, FinishReason::stop));
  EXPECT_EQ(chat["object"], "chat.completion.chunk");
  EXPECT_EQ(chat["choices"][0]["delta"]["content"], " w9");
  EXPECT_EQ(chat["choices"][0]["finish_reason"], "stop");
  const Json role = data_of(role_event(completion(Api::chat)));
  EXPECT_EQ(role["choices"][0]["delta"]["role"], "assistant");
  const Json usage = data_of(usage_event(completion(Api::chat)));
  EXPECT_TRUE(usage["choices"].empty());
  EXPECT_EQ(usage["usage"]["completion_tokens"], 2);
}

TEST(CpuLlmCompletions, ErrorsNameTheirStatus) {
  const Json error = Json::parse(error_json(400, "bad \xFF"));
  EXPECT_EQ(error["error"]["code"], 400);
  EXPECT_EQ(error["error"]["type"], "invalid_request_error");
}

}  // namespace
}  // namespace cpu_llm_server
