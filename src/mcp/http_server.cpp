#include "mcp/http_server.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "base/text.h"
#include "http/event_loop.h"
#include "http/server.h"
#include "mcp/call_queue.h"

namespace llmprof::mcp {
namespace {

using http::Responder;
using http::ServerRequest;
using ResponderPointer = std::shared_ptr<Responder>;

constexpr std::string_view kJsonType = "application/json";
constexpr std::string_view kEventType = "text/event-stream";

// "127.0.0.1:8000" and "localhost:8000" are this machine, whatever the port.
bool is_this_machine(std::string_view authority) {
  const size_t colon = authority.rfind(':');
  if (colon != std::string_view::npos && !authority.ends_with(']')) {
    const std::string_view port = authority.substr(colon + 1);
    if (!parse_int(port)) return false;
    authority = authority.substr(0, colon);
  }
  return authority == "127.0.0.1" || authority == "[::1]" ||
         equals_ignoring_case(authority, "localhost");
}

// A browser names the page that sends a request; programs send no origin.
bool may_ask(const ServerRequest& request) {
  if (!is_this_machine(request.header("Host"))) return false;
  std::string_view origin = request.header("Origin");
  if (origin.empty()) return true;
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (origin.starts_with(scheme)) return is_this_machine(origin.substr(scheme.size()));
  }
  return false;
}

std::string as_event(const Json& message) {
  return fmt::format("event: message\ndata: {}\n\n", to_line(message));
}

class HttpServer {
 public:
  HttpServer(const Protocol& protocol, const std::atomic<bool>& stop)
      : protocol_(protocol), stop_(stop), timer_(loop_), queue_(protocol) {}

  Result<void> run(uint16_t port, const std::function<void(uint16_t)>& listening) {
    http::ServerLimits limits;
    limits.body_bytes = kLongestMessage;
    auto server = http::Server::listen(
        loop_, port,
        [this](const ServerRequest& request, const ResponderPointer& responder) {
          take(request, responder);
        },
        limits);
    if (!server) return fail_with(server.error());
    listening((*server)->port());
    look_for_stop();
    loop_.run();
    return {};
  }

 private:
  // A signal handler may only set a flag.
  void look_for_stop() {
    constexpr int64_t kPauseNs = 100'000'000;
    if (stop_) return loop_.stop();
    timer_.start_at(http::monotonic_ns() + kPauseNs, [this] { look_for_stop(); });
  }

  void take(const ServerRequest& request, const ResponderPointer& responder) {
    constexpr int kAccepted = 202;
    constexpr int kForbidden = 403;
    constexpr int kNotFound = 404;
    constexpr int kMethodNotAllowed = 405;
    constexpr int kUnsupportedType = 415;
    const auto refuse = [&](int status, std::string_view why, const http::HeaderList& more = {}) {
      responder->answer(status, kJsonType,
                        to_line(Protocol::error_without_id(kInvalidRequest, why)), more);
    };
    if (!may_ask(request)) return refuse(kForbidden, "requests of other hosts' pages are refused");
    if (request.path() != kHttpPath) {
      return refuse(kNotFound, fmt::format("send messages to {}", kHttpPath));
    }
    if (request.method != "POST") {
      return refuse(kMethodNotAllowed, "send each message as a POST", {{"Allow", "POST"}});
    }
    // A page may send other types to any host without being asked first.
    const std::string_view type = request.header("Content-Type");
    if (!equals_ignoring_case(trim(type.substr(0, type.find(';'))), kJsonType)) {
      return refuse(kUnsupportedType, "the body must be application/json");
    }
    const MirroredHeaders headers = {request.header("MCP-Protocol-Version"),
                                     request.header("Mcp-Method"), request.header("Mcp-Name")};
    Step step = protocol_.take(request.body, &headers);
    if (const auto* const answer = std::get_if<Answer>(&step)) {
      responder->answer(answer->status, kJsonType, to_line(answer->message));
    } else if (auto* const call = std::get_if<ToolCall>(&step)) {
      const bool as_stream =
          !call->progress_token.is_null() && contains(request.header("Accept"), kEventType);
      add(std::move(*call), request.body.size(), responder, as_stream);
    } else {
      // Closing the connection cancels a call; other notifications change nothing.
      responder->answer(kAccepted, "", "");
    }
  }

  void add(ToolCall call, size_t bytes, const ResponderPointer& responder, bool as_stream) {
    const Json id = call.id;
    if (as_stream) {
      responder->begin_stream(200, kEventType,
                              {{"Cache-Control", "no-cache"}, {"X-Accel-Buffering", "no"}});
    }
    const auto end = [responder, as_stream](const std::string& message) {
      if (!as_stream) return responder->answer(200, kJsonType, message);
      responder->send(message);
      responder->end_stream();
    };
    const auto progress = [this, responder, as_stream](const Json& message) {
      if (!as_stream) return;
      loop_.post([responder, text = as_event(message)] { responder->send(text); });
    };
    const auto done = [this, end, as_stream](const Json& message) {
      loop_.post([end, text = as_stream ? as_event(message) : to_line(message)] { end(text); });
    };
    const auto handle = queue_.add(std::move(call), bytes, progress, done);
    if (handle) {
      responder->on_gone([handle] { CallQueue::cancel(handle); });
      return;
    }
    const Json error = Protocol::error(id, kInternalError, "too many calls are waiting");
    end(as_stream ? as_event(error) : to_line(error));
  }

  const Protocol& protocol_;
  const std::atomic<bool>& stop_;
  http::EventLoop loop_;
  http::Timer timer_;
  CallQueue queue_;  // its threads use the loop
};

}  // namespace

Result<void> serve_http(const Protocol& protocol, uint16_t port,
                        const std::function<void(uint16_t port)>& listening,
                        const std::atomic<bool>& stop) {
  return HttpServer(protocol, stop).run(port, listening);
}

}  // namespace llmprof::mcp
