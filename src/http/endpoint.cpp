#include "http/endpoint.h"

#include <ares.h>
#include <arpa/inet.h>
#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "base/text.h"

namespace llmprof::http {
namespace {

using Clock = std::chrono::steady_clock;

bool is_address(const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  return ::inet_pton(AF_INET, host.c_str(), bytes.data()) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), bytes.data()) == 1;
}

tl::unexpected<Error> lookup_failed(const std::string& host, std::string_view why) {
  return fail(ErrorKind::tool,
              fmt::format("the address of '{}' was not found: {}; check the name, or give an IP "
                          "address",
                          to_printable(host), why));
}

struct Lookup {
  bool done = false;
  int status = ARES_SUCCESS;
  std::vector<std::string> addresses;
};

void note_addresses(void* context, int status, int /*timeouts*/, ares_addrinfo* result) {
  auto& lookup = *static_cast<Lookup*>(context);
  lookup.done = true;
  lookup.status = status;
  if (result == nullptr) return;
  for (const ares_addrinfo_node* node = result->nodes; node != nullptr; node = node->ai_next) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    const void* bytes = nullptr;
    if (node->ai_family == AF_INET) {
      bytes = &reinterpret_cast<const sockaddr_in*>(node->ai_addr)->sin_addr;
    } else if (node->ai_family == AF_INET6) {
      bytes = &reinterpret_cast<const sockaddr_in6*>(node->ai_addr)->sin6_addr;
    }
    if (bytes != nullptr &&
        ::inet_ntop(node->ai_family, bytes, text.data(), text.size()) != nullptr) {
      lookup.addresses.emplace_back(text.data());
    }
  }
  ares_freeaddrinfo(result);
}

// Waits until one of the lookup's sockets can be used, and uses it.
void use_ready_sockets(ares_channel channel, Clock::time_point deadline) {
  constexpr std::chrono::milliseconds kLongestWait(100);
  std::array<ares_socket_t, ARES_GETSOCK_MAXNUM> sockets{};
  const auto mask =
      static_cast<unsigned>(ares_getsock(channel, sockets.data(), ARES_GETSOCK_MAXNUM));
  std::array<pollfd, ARES_GETSOCK_MAXNUM> polled{};
  nfds_t count = 0;
  for (unsigned at = 0; at < ARES_GETSOCK_MAXNUM; ++at) {
    short events = 0;
    if (ARES_GETSOCK_READABLE(mask, at)) events |= POLLIN;
    if (ARES_GETSOCK_WRITABLE(mask, at)) events |= POLLOUT;
    if (events != 0) polled.at(count++) = {sockets.at(at), events, 0};
  }
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
  const auto wait = std::clamp(left, std::chrono::milliseconds(0), kLongestWait);
  ::poll(polled.data(), count, static_cast<int>(wait.count()));
  ares_process_fd(channel, ARES_SOCKET_BAD, ARES_SOCKET_BAD);  // timeouts
  for (nfds_t at = 0; at < count; ++at) {
    const pollfd& socket = polled.at(at);
    if (socket.revents == 0) continue;
    const bool readable = (socket.revents & (POLLIN | POLLERR | POLLHUP)) != 0;
    const bool writable = (socket.revents & POLLOUT) != 0;
    ares_process_fd(channel, readable ? socket.fd : ARES_SOCKET_BAD,
                    writable ? socket.fd : ARES_SOCKET_BAD);
  }
}

struct DestroyChannel {
  void operator()(ares_channeldata* channel) const { ares_destroy(channel); }
};

// Once per process, at first use.
int initialize_library() {
  static const int status = ares_library_init(ARES_LIB_INIT_ALL);
  return status;
}

Result<std::vector<std::string>> look_up(const std::string& host,
                                         std::chrono::milliseconds timeout) {
  const Clock::time_point deadline = Clock::now() + timeout;
  int status = initialize_library();
  ares_channel opened = nullptr;
  if (status == ARES_SUCCESS) status = ares_init(&opened);
  if (status != ARES_SUCCESS) return lookup_failed(host, ares_strerror(status));
  Lookup lookup;  // outlives the channel, whose destruction calls note_addresses
  const std::unique_ptr<ares_channeldata, DestroyChannel> channel(opened);
  ares_addrinfo_hints hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  ares_getaddrinfo(channel.get(), host.c_str(), nullptr, &hints, note_addresses, &lookup);
  while (!lookup.done && Clock::now() < deadline) use_ready_sockets(channel.get(), deadline);
  if (!lookup.done) {
    const double seconds = std::chrono::duration<double>(timeout).count();
    return lookup_failed(host, fmt::format("no name server answered within {:g} s", seconds));
  }
  if (lookup.addresses.empty()) {
    return lookup_failed(
        host, ares_strerror(lookup.status == ARES_SUCCESS ? ARES_ENODATA : lookup.status));
  }
  return std::move(lookup.addresses);
}

}  // namespace

Result<std::vector<std::string>> addresses_of(const std::string& host,
                                              std::chrono::milliseconds timeout) {
  if (equals_ignoring_case(host, "localhost")) return std::vector<std::string>{"127.0.0.1", "::1"};
  if (host == "0.0.0.0") return std::vector<std::string>{"127.0.0.1"};
  if (is_address(host)) return std::vector{host};
  return look_up(host, timeout);
}

Result<Endpoint> find_endpoint(const Url& url, std::chrono::milliseconds timeout) {
  auto addresses = addresses_of(url.host, timeout);
  if (!addresses) return fail_with(addresses.error());
  return Endpoint{url, std::move(*addresses)};
}

}  // namespace llmprof::http
