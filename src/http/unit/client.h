#pragma once

#include <boost/asio/ssl.hpp>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "http/ca_certificates.h"
#include "http/unit/client_connection.h"

namespace llmprof::http {

class AsioClient final : public Client {
 public:
  AsioClient(EventLoop& loop, ClientOptions options)
      : context_(loop.state().context), options_(std::move(options)) {
    owner_.header_bytes = options_.header_bytes;
    owner_.ended = [this](const auto& connection, auto exchange, auto outcome, bool can_be_kept) {
      ended(connection, std::move(exchange), std::move(outcome), can_be_kept);
    };
    owner_.send_again = [this](auto exchange) {
      busy_.erase(exchange->id);
      start(std::move(exchange));
    };
    owner_.closed_while_idle = [this](const ClientConnection* connection) { forget(connection); };
  }
  AsioClient(const AsioClient&) = delete;
  AsioClient& operator=(const AsioClient&) = delete;
  ~AsioClient() override {
    for (auto& [id, connection] : busy_) connection->drop();
    for (auto& [place, connections] : idle_) {
      for (const auto& connection : connections) connection->drop();
    }
  }

  ExchangeId send(const Endpoint& endpoint, const ClientRequest& request,
                  ExchangeEvents events) override {
    auto exchange =
        std::make_unique<ClientExchange>(context_, ++last_id_, endpoint, std::move(events));
    const ExchangeId id = exchange->id;
    exchange->text = request_text(endpoint.url, request, options_.user_agent);
    exchange->is_head = request.method == "HEAD";
    if (endpoint.url.tls && !tls_) {
      if (auto made = make_tls(); !made) {
        exchange->events.end({ExchangeEnd::failed, made.error().message, monotonic_ns(), false});
        return id;
      }
    }
    if (request.timeout_ns > 0) start_timeout(*exchange, request.timeout_ns);
    start(std::move(exchange));
    return id;
  }

  void cancel(ExchangeId exchange) override {
    end_exchange(exchange, ExchangeEnd::cancelled, "cancelled");
  }

  [[nodiscard]] size_t open_exchanges() const override { return busy_.size(); }
  [[nodiscard]] size_t opened_connections() const override { return opened_; }

 private:
  using Connection = std::shared_ptr<ClientConnection>;

  static std::string place_of(const Url& url) { return (url.tls ? "+" : "-") + url.authority(); }

  Result<void> make_tls() {
    const auto certificates = find_ca_certificates(options_.ca_file);
    if (!certificates) return fail_with(certificates.error());
    // Without the machine's openssl.cnf, which may name modules that a static program cannot load.
    OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr);
    auto tls = std::make_unique<asio::ssl::context>(asio::ssl::context::tls_client);
    error_code error;
    tls->set_verify_mode(asio::ssl::verify_peer, error);
    SSL_CTX_set_min_proto_version(tls->native_handle(), TLS1_2_VERSION);
    std::filesystem::path place = certificates->file;
    if (!place.empty()) tls->load_verify_file(place.string(), error);
    if (!error && !certificates->folder.empty()) {
      place = certificates->folder;
      tls->add_verify_path(place.string(), error);
    }
    if (error) {
      return fail(ErrorKind::usage,
                  fmt::format("{}: its CA certificates cannot be read: {}; a PEM file is needed",
                              place.string(), error.message()));
    }
    tls_ = std::move(tls);
    return {};
  }

  void start_timeout(ClientExchange& exchange, int64_t timeout_ns) {
    exchange.timeout.expires_after(std::chrono::nanoseconds(timeout_ns));
    exchange.timeout.async_wait(
        [this, client = std::weak_ptr(alive_), id = exchange.id, timeout_ns](error_code error) {
          if (error || client.expired()) return;
          end_exchange(
              id, ExchangeEnd::timed_out,
              fmt::format("not complete within {:g} s", static_cast<double>(timeout_ns) * 1e-9));
        });
  }

  void start(std::unique_ptr<ClientExchange> exchange) {
    const auto kept = idle_.find(place_of(exchange->endpoint.url));
    Connection connection;
    // A request that is sent again needs a new connection: others may be closed too.
    if (kept != idle_.end() && !kept->second.empty() && !exchange->resent) {
      connection = std::move(kept->second.back());
      kept->second.pop_back();
      --idle_count_;
    } else {
      connection = std::make_shared<ClientConnection>(
          context_, exchange->endpoint.url.tls ? tls_.get() : nullptr, owner_);
      ++opened_;
    }
    busy_[exchange->id] = connection;
    connection->start(std::move(exchange));
  }

  void end_exchange(ExchangeId id, ExchangeEnd how, std::string error) {
    const auto found = busy_.find(id);
    if (found == busy_.end()) return;
    const Connection connection = found->second;
    connection->end(how, std::move(error));
  }

  void ended(const Connection& connection, std::unique_ptr<ClientExchange> exchange,
             ExchangeOutcome outcome, bool can_be_kept) {
    busy_.erase(exchange->id);
    outcome.resent = exchange->resent;
    if (can_be_kept && idle_count_ < options_.kept_connections) {
      idle_[place_of(exchange->endpoint.url)].push_back(connection);
      ++idle_count_;
    } else {
      connection->close();
    }
    exchange->timeout.cancel();
    if (exchange->events.end) exchange->events.end(outcome);
    // One of its own calls may have ended it: it is freed once that has returned.
    if (!can_be_kept) asio::post(context_, [freed = std::move(exchange)] {});
  }

  void forget(const ClientConnection* connection) {
    for (auto& [place, connections] : idle_) {
      const auto found = std::find_if(connections.begin(), connections.end(),
                                      [&](const auto& kept) { return kept.get() == connection; });
      if (found == connections.end()) continue;
      connections.erase(found);
      --idle_count_;
      return;
    }
  }

  asio::io_context& context_;
  ClientOptions options_;
  ClientConnection::Owner owner_;
  std::unique_ptr<asio::ssl::context> tls_;
  std::unordered_map<ExchangeId, Connection> busy_;
  std::map<std::string, std::vector<Connection>> idle_;
  size_t idle_count_ = 0;
  size_t opened_ = 0;
  ExchangeId last_id_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // timers may fire after the client
};

}  // namespace llmprof::http
