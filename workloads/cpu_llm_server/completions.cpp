#include "cpu_llm_server/completions.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/needed.h"
#include "base/text.h"

namespace cpu_llm_server {
namespace {

using Json = nlohmann::ordered_json;
using llmprof::ErrorKind;
using llmprof::give_up;

constexpr size_t kUsualTokens = 16;
constexpr size_t kMostTokens = 1U << 20U;

// Equal words are equal tokens; none is the end token.
Token token_of(std::string_view word, size_t vocabulary) {
  return static_cast<Token>(1 + std::hash<std::string_view>()(word) % (vocabulary - 1));
}

void add_words(std::string_view text, size_t vocabulary, std::vector<Token>& tokens) {
  constexpr std::string_view kSpace = " \t\r\n";
  for (size_t begin = text.find_first_not_of(kSpace); begin != std::string_view::npos;) {
    const size_t end = std::min(text.find_first_of(kSpace, begin), text.size());
    tokens.push_back(token_of(text.substr(begin, end - begin), vocabulary));
    begin = text.find_first_not_of(kSpace, end);
  }
}

void add_prompt(const Json& prompt, size_t vocabulary, std::vector<Token>& tokens) {
  const bool listed = prompt.is_array() && prompt.size() == 1 && !prompt[0].is_number();
  const Json& one = listed ? prompt[0] : prompt;
  if (one.is_string()) return add_words(one.get_ref<const std::string&>(), vocabulary, tokens);
  if (!one.is_array()) give_up(ErrorKind::input, "prompt must be a text or token ids");
  for (const Json& id : one) {
    if (!id.is_number_unsigned()) {
      give_up(ErrorKind::input, "prompt must be one text, or the token ids of one prompt");
    }
    tokens.push_back(static_cast<Token>(id.get<uint64_t>() % vocabulary));
  }
}

void add_messages(const Json& messages, size_t vocabulary, std::vector<Token>& tokens) {
  if (!messages.is_array()) give_up(ErrorKind::input, "messages must be a list");
  for (const Json& message : messages) {
    if (!message.is_object()) give_up(ErrorKind::input, "each of messages must be an object");
    const Json content = message.value("content", Json());
    if (content.is_string()) {
      add_words(content.get_ref<const std::string&>(), vocabulary, tokens);
      continue;
    }
    if (!content.is_array()) give_up(ErrorKind::input, "the content of a message must be a text");
    for (const Json& part : content) {
      if (!part.is_object() || !part.value("text", Json()).is_string()) {
        give_up(ErrorKind::input, "the content of a message must be a text");
      }
      add_words(part["text"].get_ref<const std::string&>(), vocabulary, tokens);
    }
  }
}

bool flag_in(const Json& body, const char* key) {
  const Json value = body.value(key, Json());
  if (value.is_null()) return false;
  if (!value.is_boolean()) give_up(ErrorKind::input, fmt::format("{} must be true or false", key));
  return value.get<bool>();
}

std::optional<size_t> count_in(const Json& body, const char* key) {
  const Json value = body.value(key, Json());
  if (value.is_null()) return std::nullopt;
  if (!value.is_number_unsigned() || value.get<uint64_t>() < 1 ||
      value.get<uint64_t>() > kMostTokens) {
    give_up(ErrorKind::input, fmt::format("{} must be a number from 1 to {}", key, kMostTokens));
  }
  return value.get<size_t>();
}

Json finish_words(FinishReason finish) {
  if (finish == FinishReason::none) return {};
  return finish == FinishReason::length ? "length" : "stop";
}

Json usage_of(const Completion& completion) {
  return {{"prompt_tokens", completion.prompt_tokens},
          {"completion_tokens", completion.tokens.size()},
          {"total_tokens", completion.prompt_tokens + completion.tokens.size()}};
}

Json head_of(const Completion& completion, const char* object) {
  return {{"id", completion.id},
          {"object", object},
          {"created", completion.created},
          {"model", completion.model}};
}

std::string dumped(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string event(const Completion& completion, Json choices, const Json& usage = {}) {
  Json json = head_of(completion,
                      completion.api == Api::chat ? "chat.completion.chunk" : "text_completion");
  json["choices"] = std::move(choices);
  if (!usage.is_null()) json["usage"] = usage;
  return "data: " + dumped(json) + "\n\n";
}

Json chat_choice(Json delta, FinishReason finish) {
  return Json::array(
      {{{"index", 0}, {"delta", std::move(delta)}, {"finish_reason", finish_words(finish)}}});
}

Json text_choice(const std::string& text, FinishReason finish) {
  return Json::array({{{"index", 0},
                       {"text", text},
                       {"logprobs", nullptr},
                       {"finish_reason", finish_words(finish)}}});
}

}  // namespace

llmprof::Result<CompletionRequest> read_completion_request(Api api, std::string_view body,
                                                           size_t vocabulary) {
  return llmprof::attempt([&] {
    const Json json = Json::parse(body, nullptr, false);
    if (!json.is_object()) give_up(ErrorKind::input, "the body must be a JSON object");
    CompletionRequest request;
    const char* const key = api == Api::chat ? "messages" : "prompt";
    if (!json.contains(key)) give_up(ErrorKind::input, fmt::format("{} is missing", key));
    if (api == Api::chat) {
      add_messages(json[key], vocabulary, request.prompt);
    } else {
      add_prompt(json[key], vocabulary, request.prompt);
    }
    if (request.prompt.empty()) give_up(ErrorKind::input, fmt::format("{} is empty", key));
    if (count_in(json, "n").value_or(1) != 1) give_up(ErrorKind::input, "n must be 1");
    const auto limit = count_in(json, "max_completion_tokens");
    request.limits.max_tokens =
        limit ? *limit : count_in(json, "max_tokens").value_or(kUsualTokens);
    if (!flag_in(json, "ignore_eos")) request.limits.end_token = kEndToken;
    request.stream = flag_in(json, "stream");
    const Json options = json.value("stream_options", Json());
    request.include_usage = options.is_object() && flag_in(options, "include_usage");
    return request;
  });
}

std::string text_of(Token token) { return fmt::format(" w{}", token); }

std::string completion_json(const Completion& completion) {
  std::string text;
  for (const Token token : completion.tokens) text += text_of(token);
  const bool chat = completion.api == Api::chat;
  Json json = head_of(completion, chat ? "chat.completion" : "text_completion");
  if (chat) {
    json["choices"] = Json::array({{{"index", 0},
                                    {"message", {{"role", "assistant"}, {"content", text}}},
                                    {"finish_reason", finish_words(completion.finish)}}});
  } else {
    json["choices"] = text_choice(text, completion.finish);
  }
  json["usage"] = usage_of(completion);
  return dumped(json);
}

std::string role_event(const Completion& completion) {
  return event(completion,
               chat_choice({{"role", "assistant"}, {"content", ""}}, FinishReason::none));
}

std::string token_event(const Completion& completion, Token token, FinishReason finish) {
  if (completion.api == Api::chat) {
    return event(completion, chat_choice({{"content", text_of(token)}}, finish));
  }
  return event(completion, text_choice(text_of(token), finish));
}

std::string usage_event(const Completion& completion) {
  return event(completion, Json::array(), usage_of(completion));
}

std::string models_json(std::string_view model) {
  return dumped(
      {{"object", "list"}, {"data", Json::array({{{"id", model}, {"object", "model"}}})}});
}

std::string error_json(int status, std::string_view message) {
  const char* const type = status < 500 ? "invalid_request_error" : "server_error";
  return dumped({{"error", {{"message", message}, {"type", type}, {"code", status}}}});
}

}  // namespace cpu_llm_server
