#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "http/url.h"

namespace llmprof::http {

// A URL whose host's addresses are known. Looking a name up waits for the network, which an event
// loop must not.
struct Endpoint {
  Url url;
  std::vector<std::string> addresses;  // numeric, in the order in which they are tried
};

// The addresses of a host: an address stands for itself, `localhost` for 127.0.0.1 and ::1 without
// a lookup, 0.0.0.0 for 127.0.0.1. Names are looked up by c-ares (/etc/hosts, then DNS): the C
// library's lookup needs plug-ins, which a static program lacks. An error of kind tool names the
// host and the cause.
Result<std::vector<std::string>> addresses_of(const std::string& host,
                                              std::chrono::milliseconds timeout);

Result<Endpoint> find_endpoint(const Url& url, std::chrono::milliseconds timeout);

}  // namespace llmprof::http
