#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "http/endpoint.h"
#include "http/event_loop.h"

namespace llmprof::http {

struct ClientRequest {
  std::string method = "GET";
  std::vector<std::pair<std::string, std::string>> headers;  // besides Host and Content-Length
  std::string body;
  int64_t timeout_ns = 0;  // for the whole exchange; 0: none
};

struct SendTimes {
  int64_t sent_ns = 0;     // when the last bytes of the request were handed to the kernel's socket
  int64_t connect_ns = 0;  // how long it waited for a new connection; 0: one was open
};

struct AnswerHead {
  int status = 0;
  std::string content_type;
};

enum class ExchangeEnd : uint8_t {
  complete,   // the whole answer arrived
  failed,     // no answer: no connection, no TLS, an answer that is not HTTP, a limit
  cut,        // the answer ended before its end
  timed_out,  // ClientRequest::timeout_ns
  cancelled,
};

struct ExchangeOutcome {
  ExchangeEnd end = ExchangeEnd::failed;
  std::string error;  // for a person; empty if complete
  int64_t at_ns = 0;
  // It was sent again, because the server had closed the kept connection before any byte of an
  // answer.
  bool resent = false;
};

// What happens in an exchange, in this order; all but `end` are optional, and not called where
// there is nothing to report. `end` is called exactly once.
struct ExchangeEvents {
  std::function<void(const SendTimes&)> sent;  // again if it is sent again
  std::function<void(const AnswerHead&)> head;
  // Bytes of the body, without transfer encoding. `arrival_ns` is taken when recv returned.
  std::function<void(std::string_view bytes, int64_t arrival_ns)> body;
  std::function<void(const ExchangeOutcome&)> end;
};

struct ClientOptions {
  std::string ca_file;                 // PEM; empty: where the distribution keeps them
  uint32_t header_bytes = 64U << 10U;  // of an answer; more is an error
  size_t kept_connections = 4096;      // idle ones that are kept for the next request
  std::string user_agent = "llmprof";
};

// HTTP/1.1 over any number of concurrent connections, which are opened as needed and kept for later
// requests to the same place. Certificates of https servers are verified.
class Client {
 public:
  using ExchangeId = uint64_t;

  static std::unique_ptr<Client> create(EventLoop& loop, const ClientOptions& options = {});
  Client() = default;
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  virtual ~Client() = default;  // ends all exchanges without further calls

  // `end` may be called before it returns. An https endpoint without usable CA certificates ends
  // as failed.
  virtual ExchangeId send(const Endpoint& endpoint, const ClientRequest& request,
                          ExchangeEvents events) = 0;
  // Ends the exchange, if it still goes on, as cancelled.
  virtual void cancel(ExchangeId exchange) = 0;
  [[nodiscard]] virtual size_t open_exchanges() const = 0;
  [[nodiscard]] virtual size_t opened_connections() const = 0;  // so far
};

}  // namespace llmprof::http
