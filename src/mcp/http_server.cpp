#include "mcp/http_server.h"

#include <fmt/format.h>

#include <map>
#include <memory>
#include <random>
#include <string>
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
constexpr int kAccepted = 202;
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

// Clients of the earlier era repeat it in each request. It only distinguishes their calls.
std::string new_session() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
}

std::string as_event(const Json& message) {
  return fmt::format("event: message\ndata: {}\n\n", to_line(message));
}

struct OpenCall {
  CallQueue::Handle call;
  std::function<void()> end;  // of HTTP's response, without one to the call
};

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
      const http::HeaderList session = answer->begins_session
                                           ? http::HeaderList{{"Mcp-Session-Id", new_session()}}
                                           : http::HeaderList{};
      responder->answer(answer->status, kJsonType, to_line(answer->message), session);
    } else if (auto* const call = std::get_if<ToolCall>(&step)) {
      const bool as_stream =
          !call->progress_token.is_null() && contains(request.header("Accept"), kEventType);
      const std::string_view session = call->is_modern ? "" : request.header("Mcp-Session-Id");
      add(std::move(*call), request.body.size(), responder, as_stream, session);
    } else {
      // In the later era, only closing the stream cancels a call.
      const auto* const cancelled = std::get_if<CancelCall>(&step);
      if (cancelled != nullptr) cancel(request.header("Mcp-Session-Id"), cancelled->id);
      responder->answer(kAccepted, "", "");
    }
  }

  // Ids are the client's own: those of others are the same numbers.
  static std::string key_of(std::string_view session, const Json& id) {
    return session.empty() ? std::string() : fmt::format("{} {}", session, to_line(id));
  }

  void cancel(std::string_view session, const Json& id) {
    const auto found = calls_.find(key_of(session, id));
    if (found == calls_.end()) return;
    CallQueue::cancel(found->second.call);
    found->second.end();
    calls_.erase(found);
  }

  void add(ToolCall call, size_t bytes, const ResponderPointer& responder, bool as_stream,
           std::string_view session) {
    const Json id = call.id;
    const std::string key = key_of(session, id);
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
    const auto done = [this, end, as_stream, key](const Json& message) {
      loop_.post([this, end, key, text = as_stream ? as_event(message) : to_line(message)] {
        calls_.erase(key);
        end(text);
      });
    };
    const auto handle = queue_.add(std::move(call), bytes, progress, done);
    if (handle) {
      if (!key.empty()) {
        calls_.insert_or_assign(key, OpenCall{handle, [responder, as_stream] {
                                                if (as_stream) return responder->end_stream();
                                                responder->answer(kAccepted, "", "");
                                              }});
      }
      responder->on_gone([this, handle, key] {
        calls_.erase(key);
        CallQueue::cancel(handle);
      });
      return;
    }
    const Json error = Protocol::error(id, kInternalError, "too many calls are waiting");
    end(as_stream ? as_event(error) : to_line(error));
  }

  const Protocol& protocol_;
  const std::atomic<bool>& stop_;
  http::EventLoop loop_;
  http::Timer timer_;
  std::map<std::string, OpenCall> calls_;  // of clients of the earlier era, by session and id
  CallQueue queue_;                        // its threads use the loop
};

}  // namespace

Result<void> serve_http(const Protocol& protocol, uint16_t port,
                        const std::function<void(uint16_t port)>& listening,
                        const std::atomic<bool>& stop) {
  return HttpServer(protocol, stop).run(port, listening);
}

}  // namespace llmprof::mcp
