#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "http/event_loop.h"

namespace llmprof::http {

using HeaderList = std::vector<std::pair<std::string, std::string>>;

struct ServerRequest {
  std::string method;  // "GET", "POST"
  std::string target;  // path and query
  HeaderList headers;
  std::string body;
  int64_t arrival_ns = 0;  // when its last byte was read

  // Without the query.
  [[nodiscard]] std::string_view path() const;
  // The first of that name in any case; empty if there is none.
  [[nodiscard]] std::string_view header(std::string_view name) const;
};

// Answers one request: at once with `answer`, or as a stream of chunks (chunked transfer encoding)
// with `begin_stream`, `send` and `end_stream`. Once the client is gone, all of it does nothing. A
// request whose Responder is dropped without an answer gets status 500; a stream that is dropped
// breaks off. Used on the loop's thread alone (EventLoop::post); may be dropped on any.
class Responder {
 public:
  virtual void answer(int status, std::string_view content_type, std::string body,
                      const HeaderList& headers = {}) = 0;
  virtual void begin_stream(int status, std::string_view content_type,
                            const HeaderList& headers = {}) = 0;
  // One chunk, which leaves at once. An empty text sends nothing: an empty chunk would end the
  // stream.
  virtual void send(std::string_view chunk) = 0;
  virtual void end_stream() = 0;
  // Breaks the connection off, as a crash would.
  virtual void abort() = 0;
  // Whether the client closed the connection, or stopped reading what it gets.
  [[nodiscard]] virtual bool is_gone() const = 0;
  // Called once when the client goes before its answer is complete.
  virtual void on_gone(std::function<void()> task) = 0;

  Responder() = default;
  Responder(const Responder&) = delete;
  Responder& operator=(const Responder&) = delete;
  virtual ~Responder() = default;
};

struct ServerLimits {
  uint32_t header_bytes = 16U << 10U;  // 431 beyond
  uint64_t body_bytes = 64ULL << 20U;  // 413 beyond
  size_t unsent_bytes = 16UL << 20U;   // a client that leaves more unread counts as gone
  std::chrono::seconds idle{120};      // a connection without a complete request is closed
};

// An HTTP/1.1 server on 127.0.0.1, without TLS. Bad requests are answered by it (400, 413, 431).
class Server {
 public:
  // On the loop's thread, once per request.
  using Handler = std::function<void(ServerRequest, std::shared_ptr<Responder>)>;

  // Port 0: one that is free. An error of kind tool says why nothing can listen there.
  static Result<std::unique_ptr<Server>> listen(EventLoop& loop, uint16_t port, Handler handler,
                                                const ServerLimits& limits = {});
  Server() = default;
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  virtual ~Server() = default;  // closes all connections

  [[nodiscard]] virtual uint16_t port() const = 0;
  [[nodiscard]] virtual size_t connections() const = 0;
};

}  // namespace llmprof::http
