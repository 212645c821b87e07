#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "http/client.h"

namespace llmprof::http {

struct Answer {
  int status = 0;
  std::string content_type;
  std::string body;
  std::string broke_off;  // why the body is not complete; empty: it is
};

// One GET, which waits for the whole answer. An answer longer than `body_bytes`, or none in time,
// is an error of kind tool.
Result<Answer> get(const Url& url, std::chrono::milliseconds timeout,
                   const ClientOptions& options = {},
                   std::vector<std::pair<std::string, std::string>> headers = {},
                   size_t body_bytes = 16UL << 20U);

// Any request, which waits for the answer. An answer that broke off behind its head, or whose body
// is longer than `body_bytes`, says so in `broke_off`.
Result<Answer> ask(const Url& url, ClientRequest request, std::chrono::milliseconds timeout,
                   const ClientOptions& options = {}, size_t body_bytes = 16UL << 20U);

// The status of the answer to a GET, whose body is not awaited.
Result<int> get_status(const Url& url, std::chrono::milliseconds timeout,
                       const ClientOptions& options = {});

}  // namespace llmprof::http
