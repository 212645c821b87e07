#include "load/target.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "http/get.h"
#include "load/answer.h"

namespace llmprof::load {
namespace {

using nlohmann::json;

constexpr int kAnswered = 200;
constexpr int kUnauthorized = 401;
constexpr int kForbidden = 403;
constexpr int kNotFound = 404;
constexpr int kMethodNotAllowed = 405;
constexpr int kTooManyRequests = 429;
constexpr int kUnavailable = 503;

tl::unexpected<Error> tool_failure(std::string message) {
  return fail(ErrorKind::tool, std::move(message));
}

// The path before the endpoint: "/serve" of "/serve/v1/completions".
std::string base_of(std::string_view path) {
  for (const std::string_view end : {"/v1/chat/completions", "/v1/completions", "/chat/completions",
                                     "/completions", "/completion", "/v1"}) {
    std::string_view rest = path;
    while (rest.ends_with('/')) rest.remove_suffix(1);
    if (!rest.ends_with(end)) continue;
    rest.remove_suffix(end.size());
    return std::string(rest);
  }
  while (path.ends_with('/')) path.remove_suffix(1);
  return std::string(path);
}

class TargetFinder {
 public:
  TargetFinder(const TargetWish& wish, const Prompts* prompts)
      : wish_(wish), prompts_(prompts), base_(base_of(wish.url.path())) {}

  Result<Target> find() {
    auto endpoint = http::find_endpoint(wish_.url, wish_.timeout);
    if (!endpoint) return fail_with(endpoint.error());
    target_.endpoint = std::move(*endpoint);
    target_.form.model = wish_.model;
    const std::optional<Api> in_path = api_of_path(wish_.url.path());
    std::optional<Api> api = wish_.api ? wish_.api : in_path;
    // Where the API is known, the request for one token says what is wrong.
    if (auto asked = ask_models(); !asked && !api) return fail_with(asked.error());
    if (!api) {
      auto found = ask_api();
      if (!found) return fail_with(found.error());
      api = *found;
    }
    target_.form.api = *api;
    target_.endpoint.url =
        in_path == api ? wish_.url : wish_.url.with_target(base_ + std::string(path_of(*api)));
    if (prompts_ != nullptr && prompts_->has_messages() && *api != Api::chat) {
      return fail(ErrorKind::usage,
                  "the file of prompts has `messages`, which the chat API alone takes: add --api "
                  "chat");
    }
    const bool may_be_chat = !wish_.api && !in_path && *api == Api::completions;
    auto checked = find_form();
    if (!checked && may_be_chat && is_no_endpoint_) {
      target_.form.api = Api::chat;
      target_.endpoint.url = wish_.url.with_target(base_ + std::string(path_of(Api::chat)));
      checked = find_form();
    }
    if (!checked) return fail_with(checked.error());
    return std::move(target_);
  }

 private:
  Result<http::Answer> get(std::string_view path) {
    return http::ask(wish_.url.with_target(base_ + std::string(path)),
                     {"GET", wish_.headers, "", 0}, wish_.timeout, wish_.client);
  }

  // The model's name and vocabulary, where the server says so. An error: nobody answers.
  Result<void> ask_models() {
    const auto answer = get("/v1/models");
    if (!answer) return fail_with(answer.error());
    if (answer->status != kAnswered) return {};
    const json list = json::parse(answer->body, nullptr, false);
    if (!list.is_object() || !list.contains("data") || !list["data"].is_array() ||
        list["data"].empty() || !list["data"].front().is_object()) {
      return {};
    }
    has_models_ = true;
    const json& first = list["data"].front();
    if (target_.form.model.empty()) target_.form.model = text_in(first, "id");
    target_.server = text_in(first, "owned_by");
    if (const auto meta = first.find("meta"); meta != first.end() && meta->is_object()) {
      const auto size = meta->find("n_vocab");
      if (size != meta->end() && size->is_number_unsigned()) {
        target_.vocabulary = size->get<uint64_t>();
      }
    }
    return {};
  }

  Result<Api> ask_api() {
    const auto properties = get("/props");
    if (properties && properties->status == kAnswered) {
      const json object = json::parse(properties->body, nullptr, false);
      if (object.is_object() && object.contains("default_generation_settings")) {
        return Api::llama_cpp;
      }
    }
    if (has_models_) return Api::completions;
    return tool_failure(
        fmt::format("{}: no API was recognized: neither /props nor /v1/models has an answer that "
                    "is known; name "
                    "it by --api completions|chat|llama.cpp, or give the URL of the endpoint",
                    wish_.url.text()));
  }

  static std::string text_in(const json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : "";
  }

  [[nodiscard]] std::vector<RequestForm> forms() const {
    const bool is_file = prompts_ != nullptr && prompts_->is_file();
    std::vector<bool> as_ids = {true, false};
    if (wish_.as_ids) as_ids = {*wish_.as_ids};
    if (target_.form.api == Api::chat || is_file) as_ids = {false};
    std::vector<bool> extended = {true, false};
    if (target_.form.api == Api::llama_cpp) extended = {true};
    std::vector<RequestForm> forms;
    for (const bool more : extended) {
      for (const bool ids : as_ids) {
        RequestForm form = target_.form;
        form.as_ids = ids;
        form.extended = more;
        forms.push_back(std::move(form));
      }
    }
    return forms;
  }

  // The first form that the server takes.
  Result<void> find_form() {
    constexpr uint64_t kCheckTokens = 8;
    const Prompts made(0, target_.vocabulary);
    PlannedRequest check;
    check.prompt_tokens = kCheckTokens;
    std::string why;
    for (const RequestForm& form : forms()) {
      const Prompt prompt = (prompts_ != nullptr ? *prompts_ : made).make(0, check, form.as_ids);
      auto headers = wish_.headers;
      headers.emplace_back("Content-Type", "application/json");
      const auto answer =
          http::ask(target_.endpoint.url, {"POST", std::move(headers), body_of(form, prompt, 1), 0},
                    wish_.timeout, wish_.client);
      if (!answer) return fail_with(answer.error());
      if (answer->status == kAnswered) {
        target_.form = form;
        return {};
      }
      // The first refusal is of the usual form; those of others say less.
      if (why.empty()) {
        why = fmt::format("{}: HTTP {}: {}", target_.endpoint.url.text(), answer->status,
                          message_in(answer->body));
      }
      is_no_endpoint_ = answer->status == kNotFound || answer->status == kMethodNotAllowed;
      if (answer->status == kUnauthorized || answer->status == kForbidden) {
        return tool_failure(why +
                            "; set LLMPROF_LOAD_API_KEY to the server's API key (OPENAI_API_KEY is "
                            "sent to https URLs and to this machine alone)");
      }
      if (is_no_endpoint_ || answer->status == kTooManyRequests || answer->status == kUnavailable) {
        break;
      }
    }
    return tool_failure("the server refuses a request for one token: " + why);
  }

  const TargetWish& wish_;
  const Prompts* prompts_;
  std::string base_;
  Target target_;
  bool has_models_ = false;
  bool is_no_endpoint_ = false;  // the last answer: there is no such endpoint
};

}  // namespace

Result<Target> find_target(const TargetWish& wish, const Prompts* prompts) {
  return TargetFinder(wish, prompts).find();
}

}  // namespace llmprof::load
