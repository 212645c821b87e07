#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

// Questions to programs that run on this machine, over sockets.
namespace llmprof::capture {

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

// Sends a question to the collector in a running process, over its socket (docs/collector.md), and
// returns its answer after "ok: ". An error says why not: no such process, no collector in it, no
// permission, no answer in time, or the collector's answer after "error: ".
Result<std::string> ask_collector(pid_t pid, std::string_view question,
                                  std::chrono::milliseconds patience);

}  // namespace llmprof::capture
