#pragma once

#include <fmt/format.h>

#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "http/server.h"
#include "http/unit/loop.h"

namespace llmprof::http {

// One connection of a server: reads a request, answers it, reads the next one.
class ServerConnection : public std::enable_shared_from_this<ServerConnection> {
 public:
  struct Owner {
    std::function<void(ServerRequest, const std::shared_ptr<ServerConnection>&, uint64_t number)>
        requested;
    std::function<void(const std::shared_ptr<ServerConnection>&)> closed;
    ServerLimits limits;
  };

  ServerConnection(tcp::socket socket, const std::shared_ptr<const Owner>& owner)
      : owner_(owner), socket_(std::move(socket)), idle_(socket_.get_executor()) {
    prepare_socket(socket_);
  }

  void read_request() {
    parser_.emplace();
    parser_->eager(true);
    parser_->header_limit(owner_->limits.header_bytes);
    parser_->body_limit(owner_->limits.body_bytes);
    close_if_idle(owner_->limits.idle);
    parse();
  }

  // The number of the request that is being answered; a Responder of an earlier one does nothing.
  [[nodiscard]] bool answers(uint64_t number) const {
    return is_answering_ && number == number_ && !is_closed_;
  }
  [[nodiscard]] asio::any_io_executor executor() { return socket_.get_executor(); }
  [[nodiscard]] bool began() const { return began_; }

  void answer(int status, std::string_view content_type, std::string body,
              const HeaderList& headers) {
    namespace http = beast::http;
    if (began_) return;
    http::response<http::string_body> message;
    prepare(message, status, content_type, headers);
    message.body() = std::move(body);
    message.prepare_payload();
    began_ = true;
    std::string text = text_of(message);
    if (is_head_) text.resize(text.size() - message.body().size());
    put(text);
    finish();
  }

  void begin_stream(int status, std::string_view content_type, const HeaderList& headers) {
    namespace http = beast::http;
    if (began_) return;
    http::response<http::empty_body> message;
    prepare(message, status, content_type, headers);
    is_chunked_ = version_ >= kVersion11;
    if (is_chunked_) {
      message.chunked(true);
    } else {
      keep_alive_ = false;
      message.keep_alive(false);
    }
    began_ = true;
    put(text_of(message.base()));
  }

  void send(std::string_view chunk) {
    if (!began_ || chunk.empty() || is_head_) return;
    if (waiting_.size() + chunk.size() > owner_->limits.unsent_bytes) {
      close();
      return;
    }
    if (!is_chunked_) {
      put(chunk);
      return;
    }
    chunk_.clear();
    fmt::format_to(std::back_inserter(chunk_), "{:x}\r\n", chunk.size());
    chunk_.append(chunk);
    chunk_.append("\r\n");
    put(chunk_);
  }

  void end_stream() {
    if (!began_) return;
    if (is_chunked_ && !is_head_) put("0\r\n\r\n");
    finish();
  }

  void on_gone(std::function<void()> task) { on_gone_ = std::move(task); }

  // Breaks off: the other side sees a reset.
  void abort() {
    error_code ignored;
    socket_.set_option(asio::socket_base::linger(true, 0), ignored);
    close();
  }

  void close() {
    if (is_closed_) return;
    is_closed_ = true;
    error_code ignored;
    idle_.cancel();
    socket_.close(ignored);
    if (is_answering_ && on_gone_) std::exchange(on_gone_, nullptr)();
    if (owner_->closed) owner_->closed(shared_from_this());
  }

 private:
  using Parser = beast::http::request_parser<ArrivingBody>;
  static constexpr size_t kReadBytes = 16384;
  static constexpr size_t kUnparsedBytes = 256UL << 10U;
  static constexpr unsigned kVersion11 = 11;
  static constexpr std::chrono::seconds kDraining{5};

  void close_if_idle(std::chrono::seconds patience) {
    idle_.expires_after(patience);
    idle_.async_wait([self = weak_from_this()](error_code error) {
      const auto connection = self.lock();
      if (!error && connection && !connection->is_answering_) connection->close();
    });
  }

  // What was read already, which may hold the next request.
  void parse() {
    error_code error;
    while (!error && buffer_.size() > 0 && !parser_->is_done()) {
      buffer_.consume(parser_->put(buffer_.data(), error));
    }
    if (error == beast::http::error::need_more) error = {};
    if (error || buffer_.size() > kUnparsedBytes) {
      refuse(error);
    } else if (parser_->is_done()) {
      begin_answering();
    } else {
      continue_if_expected();
      if (!is_closed_) read();
    }
  }

  void read() {
    if (is_reading_) return;
    is_reading_ = true;
    socket_.async_read_some(buffer_.prepare(kReadBytes),
                            [self = shared_from_this()](error_code error, size_t size) {
                              self->is_reading_ = false;
                              self->arrival_ns_ = monotonic_ns();
                              self->buffer_.commit(size);
                              self->on_read(error);
                            });
  }

  void on_read(error_code error) {
    if (is_closed_) return;
    if (error) {
      close();
    } else if (is_draining_) {
      buffer_.consume(buffer_.size());
      read();
    } else if (is_answering_) {
      // A pipelined request waits until this answer is complete; a flood of them is not read.
      if (buffer_.size() <= kUnparsedBytes) read();
    } else {
      parse();
    }
  }

  void continue_if_expected() {
    if (!parser_->is_header_done() || std::exchange(was_continued_, true)) return;
    const auto expected = parser_->get()[beast::http::field::expect];
    if (beast::iequals(expected, "100-continue")) put("HTTP/1.1 100 Continue\r\n\r\n");
  }

  void begin_answering() {
    auto message = parser_->release();
    idle_.cancel();
    was_continued_ = false;
    is_answering_ = true;
    began_ = false;
    on_gone_ = nullptr;
    version_ = message.version();
    keep_alive_ = message.keep_alive();
    is_head_ = message.method() == beast::http::verb::head;
    ServerRequest request;
    request.method = std::string(message.method_string());
    request.target = std::string(message.target());
    for (const auto& field : message) {
      request.headers.emplace_back(std::string(field.name_string()), std::string(field.value()));
    }
    request.body = std::move(message.body());
    request.arrival_ns = arrival_ns_;
    ++number_;
    // Reading goes on, to learn that the client is gone.
    read();
    owner_->requested(std::move(request), shared_from_this(), number_);
  }

  void refuse(error_code error) {
    constexpr int kBadRequest = 400;
    constexpr int kContentTooLarge = 413;
    constexpr int kHeaderTooLarge = 431;
    int status = kBadRequest;
    if (error == beast::http::error::body_limit) {
      status = kContentTooLarge;
    } else if (error == beast::http::error::header_limit || buffer_.size() > kUnparsedBytes) {
      status = kHeaderTooLarge;
    }
    is_answering_ = true;
    began_ = false;
    keep_alive_ = false;
    version_ = kVersion11;
    ++number_;
    answer(status, "text/plain", fmt::format("{}\n", error ? error.message() : "too long"), {});
  }

  template <class Message>
  void prepare(Message& message, int status, std::string_view content_type,
               const HeaderList& headers) {
    message.version(kVersion11);
    message.result(static_cast<unsigned>(status));
    message.set(beast::http::field::server, "llmprof");
    if (!content_type.empty()) {
      message.set(beast::http::field::content_type, view_of(content_type));
    }
    for (const auto& [name, value] : headers) message.set(view_of(name), view_of(value));
    message.keep_alive(keep_alive_);
  }

  // Sends now what the kernel takes; the rest leaves when it can.
  void put(std::string_view bytes) {
    if (is_closed_) return;
    if (sending_.empty()) {
      error_code error;
      bytes.remove_prefix(write_now(socket_, bytes, error));
      if (error) {
        close();
        return;
      }
    }
    waiting_.append(bytes);
    if (sending_.empty() && !waiting_.empty()) send_waiting();
  }

  void send_waiting() {
    sending_.swap(waiting_);
    asio::async_write(socket_, asio::buffer(sending_),
                      [self = shared_from_this()](error_code error, size_t /*size*/) {
                        self->sending_.clear();
                        if (self->is_closed_) return;
                        if (error) {
                          self->close();
                        } else if (!self->waiting_.empty()) {
                          self->send_waiting();
                        } else if (!self->is_answering_) {
                          self->take_next();
                        }
                      });
  }

  void finish() {
    if (is_closed_) return;
    is_answering_ = false;
    on_gone_ = nullptr;
    if (sending_.empty()) take_next();
  }

  // The answer has left.
  void take_next() {
    if (keep_alive_) {
      // Not within the handler that has just answered.
      asio::post(socket_.get_executor(), [self = shared_from_this()] {
        if (!self->is_closed_ && !self->is_answering_) self->read_request();
      });
      return;
    }
    // Closing with unread bytes would reset the connection, and could take the answer with it: what
    // still arrives is read and thrown away until the other side closes.
    error_code ignored;
    socket_.shutdown(tcp::socket::shutdown_send, ignored);
    is_draining_ = true;
    buffer_.consume(buffer_.size());
    close_if_idle(kDraining);
    read();
  }

  std::shared_ptr<const Owner> owner_;
  tcp::socket socket_;
  asio::steady_timer idle_;
  beast::flat_buffer buffer_;
  std::optional<Parser> parser_;
  std::string sending_;  // being written
  std::string waiting_;  // to be written after it
  std::string chunk_;
  std::function<void()> on_gone_;
  int64_t arrival_ns_ = 0;
  uint64_t number_ = 0;
  unsigned version_ = kVersion11;
  bool is_answering_ = false;
  bool began_ = false;
  bool is_chunked_ = false;
  bool is_head_ = false;
  bool keep_alive_ = true;
  bool was_continued_ = false;
  bool is_reading_ = false;
  bool is_draining_ = false;  // the last answer has left
  bool is_closed_ = false;
};

}  // namespace llmprof::http
