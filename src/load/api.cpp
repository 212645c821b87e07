#include "load/api.h"

#include <array>
#include <nlohmann/json.hpp>

namespace llmprof::load {
namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 3> kWords = {"completions", "chat", "llama.cpp"};

json prompt_of(const Prompt& prompt) {
  return prompt.ids.empty() ? json(prompt.text) : json(prompt.ids);
}

json messages_of(const Prompt& prompt) {
  if (!prompt.messages.empty()) return json::parse(prompt.messages, nullptr, false);
  return json::array({{{"role", "user"}, {"content", prompt.text}}});
}

}  // namespace

std::string_view word_of(Api api) { return kWords.at(static_cast<size_t>(api)); }

std::optional<Api> api_of_word(std::string_view word) {
  for (size_t at = 0; at < kWords.size(); ++at) {
    if (kWords.at(at) == word) return static_cast<Api>(at);
  }
  return std::nullopt;
}

std::optional<Api> api_of_path(std::string_view path) {
  while (path.ends_with('/')) path.remove_suffix(1);
  if (path.ends_with("/chat/completions")) return Api::chat;
  if (path.ends_with("/completions")) return Api::completions;
  if (path.ends_with("/completion")) return Api::llama_cpp;
  return std::nullopt;
}

std::string_view path_of(Api api) {
  constexpr std::array<std::string_view, 3> kPaths = {"/v1/completions", "/v1/chat/completions",
                                                      "/completion"};
  return kPaths.at(static_cast<size_t>(api));
}

std::string body_of(const RequestForm& form, const Prompt& prompt, uint64_t new_tokens) {
  json body = {{"stream", true}, {"temperature", 0}};
  if (!form.model.empty()) body["model"] = form.model;
  if (form.api == Api::llama_cpp) {
    body["prompt"] = prompt_of(prompt);
    body["n_predict"] = new_tokens;
    body["ignore_eos"] = true;
    body["return_tokens"] = true;
    return body.dump(-1, ' ', false, json::error_handler_t::replace);
  }
  body["max_tokens"] = new_tokens;
  body["stream_options"] = {{"include_usage", true}};
  if (form.api == Api::chat) {
    body["messages"] = messages_of(prompt);
  } else {
    body["prompt"] = prompt_of(prompt);
  }
  if (form.extended) {
    body["ignore_eos"] = true;
    body["stream_options"]["continuous_usage_stats"] = true;
  }
  return body.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace llmprof::load
