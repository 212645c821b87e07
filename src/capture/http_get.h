#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/files.h"

namespace llmprof::capture {

// A call on the socket (connect, send, recv) fails once it has waited this long.
bool limit_waits(const FileDescriptor& socket, std::chrono::milliseconds patience);

// An address that a server on this machine may answer at.
struct HttpUrl {
  std::string host;  // "127.0.0.1", "::1"; "localhost" stands for both
  uint16_t port = 80;
  std::string path = "/";  // with the query
};

// Plain http only, and addresses instead of names: we started the server ourselves.
Result<HttpUrl> parse_http_url(std::string_view url);

// The status code of the answer to a GET; none if there is no answer in time.
std::optional<int> http_get_status(const HttpUrl& url, std::chrono::milliseconds timeout);

}  // namespace llmprof::capture
