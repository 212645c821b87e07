#include "http/get.h"

#include <fmt/format.h>

#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace llmprof::http {

namespace {

// One GET on a loop of its own.
class Getting {
 public:
  Getting(Url url, const ClientOptions& options)
      : url_(std::move(url)), client_(Client::create(loop_, options)) {}

  // `is_enough`, asked behind every piece, ends the exchange.
  Result<Answer> get(std::chrono::milliseconds timeout, ClientRequest request,
                     const std::function<bool(const Answer&)>& is_enough) {
    const auto endpoint = find_endpoint(url_, timeout);
    if (!endpoint) return fail_with(endpoint.error());
    request.timeout_ns = std::chrono::nanoseconds(timeout).count();
    Answer answer;
    std::optional<ExchangeOutcome> outcome;
    bool was_enough = false;
    Client::ExchangeId exchange = 0;
    const auto look = [&] {
      if (was_enough || !is_enough(answer)) return;
      was_enough = true;
      loop_.post([&] { client_->cancel(exchange); });
    };
    ExchangeEvents events;
    events.head = [&](const AnswerHead& head) {
      answer.status = head.status;
      answer.content_type = head.content_type;
      look();
    };
    events.body = [&](std::string_view bytes, int64_t /*arrival_ns*/) {
      if (!was_enough) answer.body.append(bytes);
      look();
    };
    events.end = [&](const ExchangeOutcome& end) {
      outcome = end;
      loop_.stop();
    };
    exchange = client_->send(*endpoint, request, std::move(events));
    while (!outcome) loop_.run();
    if (outcome->end == ExchangeEnd::complete || was_enough) return answer;
    answer.broke_off = outcome->error;
    if (answer.status != 0) return answer;
    return fail(ErrorKind::tool, fmt::format("{}: {}", url_.text(), outcome->error));
  }

 private:
  Url url_;
  EventLoop loop_;
  std::unique_ptr<Client> client_;
};

}  // namespace

Result<Answer> get(const Url& url, std::chrono::milliseconds timeout, const ClientOptions& options,
                   std::vector<std::pair<std::string, std::string>> headers, size_t body_bytes) {
  ClientRequest request;
  request.headers = std::move(headers);
  auto answer = ask(url, std::move(request), timeout, options, body_bytes);
  if (answer && !answer->broke_off.empty()) {
    return fail(ErrorKind::tool, fmt::format("{}: {}", url.text(), answer->broke_off));
  }
  return answer;
}

Result<Answer> ask(const Url& url, ClientRequest request, std::chrono::milliseconds timeout,
                   const ClientOptions& options, size_t body_bytes) {
  auto answer = Getting(url, options).get(timeout, std::move(request), [&](const Answer& so_far) {
    return so_far.body.size() > body_bytes;
  });
  if (answer && answer->body.size() > body_bytes) {
    answer->broke_off = fmt::format("the answer is longer than {} bytes", body_bytes);
  }
  return answer;
}

Result<int> get_status(const Url& url, std::chrono::milliseconds timeout,
                       const ClientOptions& options) {
  const auto answer = Getting(url, options).get(timeout, {}, [](const Answer&) { return true; });
  if (!answer) return fail_with(answer.error());
  return answer->status;
}

}  // namespace llmprof::http
