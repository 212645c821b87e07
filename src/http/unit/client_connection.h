#pragma once

#include <fmt/format.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/text.h"
#include "http/unit/client_exchange.h"

namespace llmprof::http {

// One connection of a client; one exchange at a time. A read is always pending, so that the end of
// an unused connection is noticed too.
class ClientConnection : public std::enable_shared_from_this<ClientConnection> {
 public:
  // What the owner of the connection does at the end of an exchange.
  struct Owner {
    // The exchange ended; the connection can take another one if `can_be_kept`.
    std::function<void(const std::shared_ptr<ClientConnection>&, std::unique_ptr<ClientExchange>,
                       ExchangeOutcome, bool can_be_kept)>
        ended;
    // The kept connection was found closed before any byte of an answer.
    std::function<void(std::unique_ptr<ClientExchange>)> send_again;
    std::function<void(const ClientConnection*)> closed_while_idle;
    uint32_t header_bytes = 0;
  };

  ClientConnection(asio::io_context& context, asio::ssl::context* tls, const Owner& owner)
      : owner_(owner), socket_(context) {
    if (tls != nullptr) tls_.emplace(socket_, *tls);
  }

  void start(std::unique_ptr<ClientExchange> exchange) {
    exchange_ = std::move(exchange);
    is_new_ = !socket_.is_open();
    started_ns_ = monotonic_ns();
    if (is_new_) {
      connect(0);
    } else {
      write();
    }
  }

  // Ends the exchange and the connection.
  void end(ExchangeEnd how, std::string error) {
    close();
    if (!exchange_) return;
    owner_.ended(shared_from_this(), std::move(exchange_),
                 {how, std::move(error), monotonic_ns(), false}, false);
  }

  void close() {
    error_code ignored;
    socket_.close(ignored);
  }

  // Without a word to anybody: the client itself ends.
  void drop() {
    exchange_.reset();
    close();
  }

 private:
  using Parser = beast::http::response_parser<ArrivingBody>;
  static constexpr size_t kReadBytes = 16384;
  static constexpr size_t kUnparsedBytes = 256UL << 10U;

  std::string where(size_t address) const {
    const Url& url = exchange_->endpoint.url;
    Url shown = url;
    shown.host = exchange_->endpoint.addresses.at(address);
    return shown.authority() == url.authority()
               ? url.authority()
               : fmt::format("{} ({})", url.authority(), shown.host);
  }

  void connect(size_t address) {
    error_code error;
    const auto numeric = asio::ip::make_address(exchange_->endpoint.addresses.at(address), error);
    const tcp::endpoint target(numeric, exchange_->endpoint.url.port);
    if (!error) socket_.open(target.protocol(), error);
    if (error) {
      // `end` is reported later, as from a running connection.
      asio::post(socket_.get_executor(), [self = shared_from_this(), address, error] {
        self->connect_failed(address, error);
      });
      return;
    }
    socket_.async_connect(target, [self = shared_from_this(), address](error_code result) {
      if (!self->exchange_) return;
      if (result) {
        self->connect_failed(address, result);
      } else {
        prepare_socket(self->socket_);
        self->connected();
      }
    });
  }

  void connect_failed(size_t address, error_code error) {
    if (!exchange_) return;
    close();
    if (address + 1 < exchange_->endpoint.addresses.size() &&
        error != asio::error::no_descriptors) {
      connect(address + 1);
      return;
    }
    const std::string_view remedy =
        error == asio::error::no_descriptors       ? "; raise the limit of open files (ulimit -n)"
        : error == asio::error::connection_refused ? "; is the server running there?"
                                                   : "";
    end(ExchangeEnd::failed,
        fmt::format("cannot connect to {}: {}{}", where(address), error.message(), remedy));
  }

  void connected() {
    if (!tls_) {
      write();
      read();
      return;
    }
    const std::string& host = exchange_->endpoint.url.host;
    error_code not_an_address;
    asio::ip::make_address(host, not_an_address);
    // Names alone are sent as server name (RFC 6066).
    if (not_an_address) SSL_set_tlsext_host_name(tls_->native_handle(), host.c_str());
    tls_->set_verify_callback(asio::ssl::host_name_verification(host));
    tls_->async_handshake(asio::ssl::stream_base::client,
                          [self = shared_from_this()](error_code error) {
                            if (!self->exchange_) return;
                            if (error) {
                              self->handshake_failed(error);
                            } else {
                              self->write();
                              self->read();
                            }
                          });
  }

  void handshake_failed(error_code error) {
    const long verified = SSL_get_verify_result(tls_->native_handle());
    const std::string host = exchange_->endpoint.url.authority();
    if (verified == X509_V_OK) {
      end(ExchangeEnd::failed, fmt::format("no TLS connection to {}: {}", host, error.message()));
      return;
    }
    end(ExchangeEnd::failed,
        fmt::format("the certificate of {} is not trusted: {}; name the certificate of its CA by "
                    "--ca-file or SSL_CERT_FILE",
                    host, X509_verify_cert_error_string(verified)));
  }

  void expect_answer() {
    parser_.emplace();
    parser_->eager(true);
    parser_->body_limit(boost::none);
    parser_->header_limit(owner_.header_bytes);
    parser_->skip(exchange_->is_head);
  }

  void write() {
    expect_answer();
    head_reported_ = false;
    any_bytes_ = false;
    is_written_ = false;
    connect_ns_ = is_new_ ? monotonic_ns() - started_ns_ : 0;
    // Before the bytes go: the server may have them before this thread runs again.
    sending_ns_ = monotonic_ns();
    if (tls_) {
      asio::async_write(*tls_, asio::buffer(exchange_->text), when_written());
      return;
    }
    error_code error;
    const std::string_view text = exchange_->text;
    const size_t written = write_now(socket_, text, error);
    if (!error && written == text.size()) {
      report_sent();
      return;
    }
    // A connection that is closed on the other side fails the pending read as well, whose handler
    // reports it, with what was answered before.
    if (!error) {
      asio::async_write(
          socket_, asio::buffer(text.substr(written)),
          [self = shared_from_this(), written = when_written()](error_code result, size_t size) {
            self->sending_ns_ = monotonic_ns();
            written(result, size);
          });
    }
  }

  std::function<void(error_code, size_t)> when_written() {
    return [self = shared_from_this(), id = exchange_->id](error_code error, size_t /*size*/) {
      if (!error && self->exchange_ && self->exchange_->id == id) self->report_sent();
    };
  }

  void report_sent() {
    is_written_ = true;
    if (exchange_->events.sent) exchange_->events.sent({sending_ns_, connect_ns_});
  }

  void read() {
    const auto handler = [self = shared_from_this()](error_code error, size_t size) {
      const int64_t arrival_ns = monotonic_ns();
      self->buffer_.commit(size);
      self->on_read(error, arrival_ns);
    };
    if (tls_) {
      tls_->async_read_some(buffer_.prepare(kReadBytes), handler);
    } else {
      socket_.async_read_some(buffer_.prepare(kReadBytes), handler);
    }
  }

  void on_read(error_code error, int64_t arrival_ns) {
    if (!exchange_) {
      // Nothing was asked: the other side closed the kept connection, or does not speak HTTP.
      if (socket_.is_open()) owner_.closed_while_idle(this);
      close();
      return;
    }
    if (error) {
      on_end_of_bytes(error);
      return;
    }
    any_bytes_ = true;
    parse(arrival_ns);
    if (socket_.is_open()) read();
  }

  void parse(int64_t arrival_ns) {
    const auto id = exchange_->id;
    error_code error;
    while (!error && buffer_.size() > 0 && !parser_->is_done()) {
      buffer_.consume(parser_->put(buffer_.data(), error));
      if (parser_->is_header_done() && is_interim()) {
        expect_answer();
        continue;
      }
      report_parsed(arrival_ns);
      if (!exchange_ || exchange_->id != id) return;  // a call has ended it
    }
    if (error && error != beast::http::error::need_more) {
      end(head_reported_ ? ExchangeEnd::cut : ExchangeEnd::failed,
          fmt::format("the answer is not valid HTTP: {}", error.message()));
    } else if (parser_->is_done()) {
      finish(arrival_ns);
    } else if (buffer_.size() > kUnparsedBytes) {
      end(ExchangeEnd::failed, "the answer is not valid HTTP: a header or chunk size has no end");
    }
  }

  // 100 Continue, 103 Early Hints: the answer follows.
  [[nodiscard]] bool is_interim() const {
    const unsigned status = parser_->get().result_int();
    return status >= 100 && status < 200 && status != 101;
  }

  void report_parsed(int64_t arrival_ns) {
    if (!parser_->is_header_done()) return;
    const auto id = exchange_->id;
    if (!head_reported_) {
      head_reported_ = true;
      const auto type = parser_->get()[beast::http::field::content_type];
      if (exchange_->events.head) {
        exchange_->events.head({static_cast<int>(parser_->get().result_int()), std::string(type)});
      }
    }
    if (!exchange_ || exchange_->id != id || parser_->get().body().empty()) return;
    arrived_.swap(parser_->get().body());
    if (exchange_->events.body) exchange_->events.body(arrived_, arrival_ns);
    arrived_.clear();
  }

  void finish(int64_t at_ns) {
    const bool can_be_kept =
        is_written_ && buffer_.size() == 0 && parser_->get().keep_alive() && !parser_->need_eof();
    if (!can_be_kept) close();
    owner_.ended(shared_from_this(), std::move(exchange_),
                 {ExchangeEnd::complete, "", at_ns, false}, can_be_kept);
  }

  void on_end_of_bytes(error_code error) {
    const bool ended = error == asio::error::eof || error == asio::ssl::error::stream_truncated;
    if (!any_bytes_ && !is_new_ && !exchange_->resent) {
      close();
      exchange_->resent = true;
      owner_.send_again(std::move(exchange_));
      return;
    }
    if (!any_bytes_) {
      end(ExchangeEnd::failed, ended ? "the server closed the connection without an answer"
                                     : "the connection broke off: " + error.message());
      return;
    }
    error_code incomplete;
    if (ended && parser_->is_header_done()) parser_->put_eof(incomplete);
    if (ended && !incomplete && parser_->is_done()) {
      const int64_t at_ns = monotonic_ns();
      report_parsed(at_ns);
      if (exchange_) finish(at_ns);
      return;
    }
    end(head_reported_ ? ExchangeEnd::cut : ExchangeEnd::failed,
        ended ? "the server closed the connection before the end of its answer"
              : "the connection broke off: " + error.message());
  }

  const Owner& owner_;
  tcp::socket socket_;
  std::optional<asio::ssl::stream<tcp::socket&>> tls_;
  beast::flat_buffer buffer_;
  std::optional<Parser> parser_;
  std::string arrived_;
  std::unique_ptr<ClientExchange> exchange_;
  int64_t started_ns_ = 0;
  int64_t connect_ns_ = 0;
  int64_t sending_ns_ = 0;
  bool is_new_ = true;
  bool is_written_ = false;
  bool head_reported_ = false;
  bool any_bytes_ = false;
};

}  // namespace llmprof::http
