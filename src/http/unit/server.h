#pragma once

#include <fmt/format.h>

#include <boost/asio/ip/tcp.hpp>
#include <memory>
#include <string>
#include <unordered_set>
#include <utility>

#include "http/unit/server_connection.h"

namespace llmprof::http {

class ConnectionResponder final : public Responder {
 public:
  ConnectionResponder(const std::shared_ptr<ServerConnection>& connection, uint64_t number)
      : connection_(connection), number_(number) {}
  ConnectionResponder(const ConnectionResponder&) = delete;
  ConnectionResponder& operator=(const ConnectionResponder&) = delete;
  ~ConnectionResponder() override {
    constexpr int kServerError = 500;
    const auto connection = connection_.lock();
    if (!connection) return;
    asio::post(connection->executor(), [connection, number = number_] {
      if (!connection->answers(number)) return;
      if (connection->began()) {
        connection->abort();
      } else {
        connection->answer(kServerError, "text/plain", "no answer was given\n", {});
      }
    });
  }

  void answer(int status, std::string_view content_type, std::string body,
              const HeaderList& headers) override {
    if (const auto open = current()) open->answer(status, content_type, std::move(body), headers);
    is_over_ = true;
  }
  void begin_stream(int status, std::string_view content_type, const HeaderList& headers) override {
    if (const auto open = current()) open->begin_stream(status, content_type, headers);
  }
  void send(std::string_view chunk) override {
    if (const auto open = current()) open->send(chunk);
  }
  void end_stream() override {
    if (const auto open = current()) open->end_stream();
    is_over_ = true;
  }
  void abort() override {
    if (const auto open = current()) open->abort();
  }
  [[nodiscard]] bool is_gone() const override {
    const auto open = connection_.lock();
    return !open || (!is_over_ && !open->answers(number_));
  }
  void on_gone(std::function<void()> task) override {
    if (const auto open = current()) open->on_gone(std::move(task));
  }

 private:
  [[nodiscard]] std::shared_ptr<ServerConnection> current() const {
    auto open = connection_.lock();
    return open && !is_over_ && open->answers(number_) ? open : nullptr;
  }

  std::weak_ptr<ServerConnection> connection_;
  uint64_t number_;
  bool is_over_ = false;
};

class AsioServer final : public Server {
 public:
  AsioServer(asio::io_context& context, Handler handler, const ServerLimits& limits)
      : acceptor_(context), pause_(context), handler_(std::move(handler)) {
    owner_->limits = limits;
    owner_->requested = [this](ServerRequest request, const auto& connection, uint64_t number) {
      handler_(std::move(request), std::make_shared<ConnectionResponder>(connection, number));
    };
    owner_->closed = [this](const auto& connection) { connections_.erase(connection); };
  }
  AsioServer(const AsioServer&) = delete;
  AsioServer& operator=(const AsioServer&) = delete;
  ~AsioServer() override {
    error_code ignored;
    acceptor_.close(ignored);
    owner_->closed = nullptr;
    for (const auto& connection : connections_) connection->close();
  }

  Result<void> open(uint16_t port) {
    error_code error;
    const tcp::endpoint place(asio::ip::address_v4::loopback(), port);
    acceptor_.open(place.protocol(), error);
    if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor_.bind(place, error);
    if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
    if (error) {
      return fail(ErrorKind::tool,
                  fmt::format("cannot listen on 127.0.0.1:{}: {}; choose another port, or 0 for a "
                              "free one",
                              port, error.message()));
    }
    port_ = acceptor_.local_endpoint(error).port();
    accept();
    return {};
  }

  [[nodiscard]] uint16_t port() const override { return port_; }
  [[nodiscard]] size_t connections() const override { return connections_.size(); }

 private:
  void accept() {
    acceptor_.async_accept(
        [this, server = std::weak_ptr(alive_)](error_code error, tcp::socket socket) {
          if (error == asio::error::operation_aborted || server.expired()) return;
          if (error) {
            accept_later();
            return;
          }
          const auto connection = std::make_shared<ServerConnection>(std::move(socket), owner_);
          connections_.insert(connection);
          connection->read_request();
          accept();
        });
  }

  // No descriptors are left, for example: asking again at once would only use the processor.
  void accept_later() {
    constexpr std::chrono::milliseconds kPause(20);
    pause_.expires_after(kPause);
    pause_.async_wait([this, server = std::weak_ptr(alive_)](error_code error) {
      if (!error && !server.expired()) accept();
    });
  }

  tcp::acceptor acceptor_;
  asio::steady_timer pause_;
  Handler handler_;
  std::shared_ptr<ServerConnection::Owner> owner_ = std::make_shared<ServerConnection::Owner>();
  std::unordered_set<std::shared_ptr<ServerConnection>> connections_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  uint16_t port_ = 0;
};

}  // namespace llmprof::http
