#pragma once

#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "http/client.h"
#include "http/unit/loop.h"

namespace llmprof::http {

// One request and what became of it.
struct ClientExchange {
  ClientExchange(asio::io_context& context, Client::ExchangeId own_id, Endpoint place,
                 ExchangeEvents called)
      : id(own_id), endpoint(std::move(place)), events(std::move(called)), timeout(context) {}

  Client::ExchangeId id;
  Endpoint endpoint;
  ExchangeEvents events;
  asio::steady_timer timeout;
  std::string text;  // header and body, as sent
  bool is_head = false;
  bool resent = false;
};

// Header and body of a request as bytes.
inline std::string request_text(const Url& url, const ClientRequest& request,
                                const std::string& user_agent) {
  namespace http = beast::http;
  http::request<http::string_body> message;
  message.version(11);
  message.method_string(view_of(request.method));
  message.target(view_of(url.target));
  message.set(http::field::host, view_of(url.authority()));
  message.set(http::field::user_agent, view_of(user_agent));
  message.set(http::field::accept, "*/*");
  message.set(http::field::accept_encoding, "identity");
  for (const auto& [name, value] : request.headers) message.set(view_of(name), view_of(value));
  message.body() = request.body;
  message.prepare_payload();
  return text_of(message);
}

}  // namespace llmprof::http
