#include "capture/http_get.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <vector>

#include "base/text.h"

namespace llmprof::capture {
namespace {

using Clock = std::chrono::steady_clock;

struct Address {
  sockaddr_storage storage{};
  socklen_t length = 0;
};

// Name lookup would need the C library's plug-ins, which a static program lacks.
std::optional<Address> numeric_address(const std::string& host, uint16_t port) {
  Address address;
  auto* v4 = reinterpret_cast<sockaddr_in*>(&address.storage);
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&address.storage);
  if (::inet_pton(AF_INET, host.c_str(), &v4->sin_addr) == 1) {
    address.length = sizeof *v4;
    v4->sin_family = AF_INET;
  } else if (::inet_pton(AF_INET6, host.c_str(), &v6->sin6_addr) == 1) {
    address.length = sizeof *v6;
    v6->sin6_family = AF_INET6;
  } else {
    return std::nullopt;
  }
  v4->sin_port = htons(port);  // at the same place in both
  return address;
}

// Each call waits at most `patience`.
FileDescriptor connect_to(const Address& address, std::chrono::milliseconds patience) {
  FileDescriptor socket(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto* where = reinterpret_cast<const sockaddr*>(&address.storage);
  const bool connected = socket.valid() && limit_waits(socket, patience) &&
                         ::connect(socket.get(), where, address.length) == 0;
  return connected ? std::move(socket) : FileDescriptor(-1);
}

bool send_all(const FileDescriptor& socket, std::string_view text) {
  while (!text.empty()) {
    const ssize_t sent = ::send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno != EINTR) return false;
    if (sent > 0) text.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

// "HTTP/1.1 200 OK"
std::optional<int> status_in(std::string_view answer) {
  constexpr std::string_view kVersion = "HTTP/1.";
  if (!answer.starts_with(kVersion)) return std::nullopt;
  const size_t space = answer.find(' ');
  if (space == std::string_view::npos) return std::nullopt;
  const auto status = parse_int(answer.substr(space + 1, 3));
  return status ? std::optional(static_cast<int>(*status)) : std::nullopt;
}

std::optional<int> get_status_at(const Address& address, const HttpUrl& url,
                                 Clock::time_point deadline) {
  constexpr size_t kStatusLineReach = 16;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
  if (left.count() <= 0) return std::nullopt;
  const FileDescriptor socket = connect_to(address, left);
  if (!socket.valid()) return std::nullopt;
  const bool is_v6 = url.host.find(':') != std::string::npos;
  const std::string request = fmt::format(
      "GET {} HTTP/1.1\r\nHost: {}{}{}:{}\r\nUser-Agent: llmprof\r\nAccept: */*\r\nConnection: "
      "close\r\n\r\n",
      url.path, is_v6 ? "[" : "", url.host, is_v6 ? "]" : "", url.port);
  if (!send_all(socket, request)) return std::nullopt;
  std::string answer;
  while (answer.size() < kStatusLineReach && Clock::now() < deadline) {
    std::array<char, 256> buffer{};
    const ssize_t got = ::recv(socket.get(), buffer.data(), buffer.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    answer.append(buffer.data(), static_cast<size_t>(got));
  }
  return status_in(answer);
}

tl::unexpected<Error> bad_url(std::string_view url, std::string_view what) {
  return fail(ErrorKind::usage,
              fmt::format("'{}' cannot be used as the readiness URL: {}", to_printable(url), what));
}

}  // namespace

bool limit_waits(const FileDescriptor& socket, std::chrono::milliseconds patience) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(patience);
  const std::chrono::microseconds rest = patience - seconds;
  const timeval limit = {seconds.count(), rest.count()};
  return ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0 &&
         ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) == 0;
}

Result<HttpUrl> parse_http_url(std::string_view url) {
  constexpr std::string_view kScheme = "http://";
  constexpr int64_t kLastPort = 65535;
  if (!url.starts_with(kScheme)) {
    return bad_url(url, "only http://ADDRESS:PORT/PATH is supported; for https use a log pattern");
  }
  const bool has_blank = std::any_of(url.begin(), url.end(), [](char c) {
    return static_cast<unsigned char>(c) <= ' ' || c == '\x7F';
  });
  if (has_blank) return bad_url(url, "it contains a space or a control character");
  const std::string_view rest = url.substr(kScheme.size());
  const size_t slash = std::min(rest.find_first_of("/?"), rest.size());
  std::string_view authority = rest.substr(0, slash);
  HttpUrl parsed;
  parsed.path = std::string(rest.substr(slash));
  if (!parsed.path.starts_with('/')) parsed.path.insert(0, "/");

  const size_t bracket = authority.rfind(']');
  const size_t colon = authority.rfind(':');
  if (colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket)) {
    const auto port = parse_int(authority.substr(colon + 1));
    if (!port || *port < 1 || *port > kLastPort) return bad_url(url, "its port is invalid");
    parsed.port = static_cast<uint16_t>(*port);
    authority = authority.substr(0, colon);
  }
  if (authority.starts_with('[') && authority.ends_with(']')) {
    authority = authority.substr(1, authority.size() - 2);
  }
  parsed.host = std::string(authority);
  if (parsed.host == "0.0.0.0") parsed.host = "127.0.0.1";
  if (parsed.host != "localhost" && !numeric_address(parsed.host, parsed.port)) {
    return bad_url(url, "its host must be localhost or an IP address such as 127.0.0.1");
  }
  return parsed;
}

std::optional<int> http_get_status(const HttpUrl& url, std::chrono::milliseconds timeout) {
  const Clock::time_point deadline = Clock::now() + timeout;
  const bool is_local_name = url.host == "localhost";
  for (const std::string& host : is_local_name ? std::vector<std::string>{"127.0.0.1", "::1"}
                                               : std::vector<std::string>{url.host}) {
    const auto address = numeric_address(host, url.port);
    if (!address) continue;
    if (const auto status = get_status_at(*address, url, deadline)) return status;
  }
  return std::nullopt;
}

}  // namespace llmprof::capture
