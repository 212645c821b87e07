#include "cpu_llm_server/service.h"

#include <fmt/format.h>

#include <ctime>
#include <utility>

namespace cpu_llm_server {
namespace {

using llmprof::http::Responder;
using llmprof::http::ServerRequest;

constexpr int kOk = 200;
constexpr int kBadRequest = 400;
constexpr int kNotFound = 404;
constexpr int kNotAllowed = 405;
constexpr std::string_view kJson = "application/json";
constexpr std::string_view kRequestId = "x-request-id";

void refuse(Responder& responder, int status, std::string_view message) {
  responder.answer(status, kJson, error_json(status, message));
}

}  // namespace

Service::Service(llmprof::http::EventLoop& loop, std::string model, EngineOptions options,
                 Journal* journal)
    : model_(std::move(model)),
      vocabulary_(options.shape.vocabulary),
      engine_(std::move(options), journal, [this, &loop](std::vector<GeneratedToken> tokens) {
        loop.post([this, tokens = std::move(tokens)] { deliver(tokens); });
      }) {}

void Service::handle(const ServerRequest& request, const std::shared_ptr<Responder>& responder) {
  const std::string_view path = request.path();
  const bool generates = path == "/v1/completions" || path == "/v1/chat/completions";
  const bool informs = path == "/health" || path == "/v1/models";
  if (!generates && !informs) {
    return refuse(*responder, kNotFound,
                  "there are /v1/completions, /v1/chat/completions, /v1/models and /health");
  }
  if (request.method != (generates ? "POST" : "GET")) {
    return refuse(*responder, kNotAllowed,
                  fmt::format("{} needs {}", path, generates ? "POST" : "GET"));
  }
  if (generates) {
    generate(path == "/v1/completions" ? Api::completions : Api::chat, request, responder);
  } else {
    responder->answer(kOk, kJson, path == "/health" ? R"({"status":"ok"})" : models_json(model_));
  }
}

void Service::generate(Api api, const ServerRequest& request,
                       const std::shared_ptr<Responder>& responder) {
  auto wanted = read_completion_request(api, request.body, vocabulary_);
  if (!wanted) return refuse(*responder, kBadRequest, wanted.error().message);
  if (!engine_.fits(wanted->prompt.size(), wanted->limits.max_tokens)) {
    return refuse(*responder, kBadRequest,
                  fmt::format("a prompt of {} tokens and {} more do not fit in the KV cache",
                              wanted->prompt.size(), wanted->limits.max_tokens));
  }
  Answer answer;
  answer.name = request.header(kRequestId);
  if (answer.name.empty()) answer.name = fmt::format("req-{}", named_++);
  answer.completion = {api,
                       (api == Api::chat ? "chatcmpl-" : "cmpl-") + answer.name,
                       model_,
                       std::time(nullptr),
                       wanted->prompt.size(),
                       {},
                       FinishReason::none};
  answer.stream = wanted->stream;
  answer.include_usage = wanted->include_usage;
  answer.responder = responder;
  const RequestId id =
      engine_.submit({answer.name, std::move(wanted->prompt), wanted->limits, request.arrival_ns});
  answers_.emplace(id, std::move(answer));
  responder->on_gone([this, id] {
    if (answers_.erase(id) > 0) engine_.cancel(id);
  });
}

void Service::deliver(const std::vector<GeneratedToken>& tokens) {
  for (const GeneratedToken& token : tokens) {
    const auto found = answers_.find(token.request);
    if (found == answers_.end()) continue;  // its client is gone
    // Sending may find that the client is gone, which erases the answer.
    Answer answer = std::move(found->second);
    answers_.erase(found);
    deliver_to(answer, token);
    if (token.finish != FinishReason::none) {
      finish(answer);
    } else if (answer.responder->is_gone()) {
      engine_.cancel(token.request);
    } else {
      answers_.emplace(token.request, std::move(answer));
    }
  }
}

void Service::deliver_to(Answer& answer, const GeneratedToken& token) {
  Completion& completion = answer.completion;
  completion.tokens.push_back(token.token);
  completion.finish = token.finish;
  if (!answer.stream) return;
  Responder& responder = *answer.responder;
  if (completion.tokens.size() == 1) {
    responder.begin_stream(kOk, "text/event-stream",
                           {{std::string(kRequestId), answer.name}, {"cache-control", "no-cache"}});
    if (completion.api == Api::chat) responder.send(role_event(completion));
  }
  responder.send(token_event(completion, token.token, token.finish));
}

void Service::finish(Answer& answer) {
  Responder& responder = *answer.responder;
  if (!answer.stream) {
    return responder.answer(kOk, kJson, completion_json(answer.completion),
                            {{std::string(kRequestId), answer.name}});
  }
  if (answer.include_usage) responder.send(usage_event(answer.completion));
  responder.send(kDoneEvent);
  responder.end_stream();
}

}  // namespace cpu_llm_server
