#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace llmprof::http {

// http://HOST:PORT/TARGET or https://...
struct Url {
  bool tls = false;
  std::string host;  // a name or an address; an IPv6 address without its brackets
  uint16_t port = 80;
  std::string target = "/";  // path and query

  // "127.0.0.1:8000", "[::1]:81": for the Host header and for messages.
  [[nodiscard]] std::string authority() const;
  [[nodiscard]] std::string text() const;
  // Without the query: "/v1/completions".
  [[nodiscard]] std::string_view path() const;
  [[nodiscard]] Url with_target(std::string_view new_target) const;
};

// An error of kind usage names what is wrong. A URL with a password is refused: it would end up in
// files and on screens.
Result<Url> parse_url(std::string_view url);

}  // namespace llmprof::http
