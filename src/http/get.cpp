#include "http/get.h"

#include <fmt/format.h>

#include <optional>

namespace llmprof::http {

Result<Answer> get(const Url& url, std::chrono::milliseconds timeout, const ClientOptions& options,
                   std::vector<std::pair<std::string, std::string>> headers, size_t body_bytes) {
  const auto endpoint = find_endpoint(url, timeout);
  if (!endpoint) return fail_with(endpoint.error());
  EventLoop loop;
  const auto client = Client::create(loop, options);
  ClientRequest request;
  request.headers = std::move(headers);
  request.timeout_ns = std::chrono::nanoseconds(timeout).count();
  Answer answer;
  std::optional<ExchangeOutcome> outcome;
  bool too_long = false;
  Client::ExchangeId exchange = 0;
  ExchangeEvents events;
  events.head = [&](const AnswerHead& head) {
    answer.status = head.status;
    answer.content_type = head.content_type;
  };
  events.body = [&](std::string_view bytes, int64_t /*arrival_ns*/) {
    too_long = too_long || answer.body.size() + bytes.size() > body_bytes;
    if (!too_long) {
      answer.body.append(bytes);
    } else {
      loop.post([&] { client->cancel(exchange); });
    }
  };
  events.end = [&](const ExchangeOutcome& end) {
    outcome = end;
    loop.stop();
  };
  exchange = client->send(*endpoint, request, std::move(events));
  if (!outcome) loop.run();
  if (too_long) {
    return fail(ErrorKind::tool,
                fmt::format("{}: the answer is longer than {} bytes", url.text(), body_bytes));
  }
  if (outcome->end != ExchangeEnd::complete) {
    return fail(ErrorKind::tool, fmt::format("{}: {}", url.text(), outcome->error));
  }
  return answer;
}

}  // namespace llmprof::http
