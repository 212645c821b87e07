#include "capture/local_requests.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <span>
#include <system_error>
#include <vector>

#include "base/files.h"
#include "base/text.h"

namespace llmprof::capture {
namespace {

using Clock = std::chrono::steady_clock;

struct Address {
  sockaddr_storage storage{};
  socklen_t length = 0;

  template <class Kind>
  Kind* as() {
    return reinterpret_cast<Kind*>(&storage);
  }
  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

// A call on the socket (connect, send, recv) fails once it has waited this long.
bool limit_waits(const FileDescriptor& socket, std::chrono::milliseconds patience) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(patience);
  const std::chrono::microseconds rest = patience - seconds;
  const timeval limit = {seconds.count(), rest.count()};
  return ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0 &&
         ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) == 0;
}

// At most what the buffer holds; negative if it fails.
ssize_t receive(const FileDescriptor& socket, std::span<char> buffer) {
  ssize_t got = -1;
  do {
    got = ::recv(socket.get(), buffer.data(), buffer.size(), 0);
  } while (got < 0 && errno == EINTR);
  return got;
}

// Name lookup would need the C library's plug-ins, which a static program lacks.
std::optional<Address> numeric_address(const std::string& host, uint16_t port) {
  Address address;
  auto* v4 = address.as<sockaddr_in>();
  auto* v6 = address.as<sockaddr_in6>();
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
  const bool connected = socket.valid() && limit_waits(socket, patience) &&
                         ::connect(socket.get(), address.get(), address.length) == 0;
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
    const ssize_t got = receive(socket, buffer);
    if (got <= 0) break;
    answer.append(buffer.data(), static_cast<size_t>(got));
  }
  return status_in(answer);
}

tl::unexpected<Error> bad_url(std::string_view url, std::string_view what) {
  return fail(ErrorKind::usage,
              fmt::format("'{}' cannot be used as the readiness URL: {}", to_printable(url), what));
}

// In the abstract namespace: the name starts with a null byte, and there is no file.
Address collector_address(pid_t pid) {
  Address address;
  const std::string name = fmt::format("llmprof.{}", pid);
  auto* local = address.as<sockaddr_un>();
  local->sun_family = AF_UNIX;
  std::memcpy(&local->sun_path[1], name.data(), name.size());
  address.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return address;
}

std::string reason(int error_number) { return std::generic_category().message(error_number); }

bool is_there(pid_t pid) { return ::kill(pid, 0) == 0 || errno != ESRCH; }

bool is_another_users(pid_t pid) {
  struct stat status{};
  const std::string folder = fmt::format("/proc/{}", pid);
  return ::geteuid() != 0 && ::stat(folder.c_str(), &status) == 0 && status.st_uid != ::geteuid();
}

Error tool_error(std::string message) { return {ErrorKind::tool, std::move(message)}; }

Error cannot_reach(pid_t pid, int error_number) {
  if (!is_there(pid)) return tool_error(fmt::format("there is no process {}", pid));
  if (error_number != ECONNREFUSED && error_number != ENOENT) {
    return tool_error(
        fmt::format("process {}: cannot ask its collector: {}", pid, reason(error_number)));
  }
  return tool_error(
      fmt::format("process {} has no collector, or has not initialized CUDA yet: start it with "
                  "CUDA_INJECTION64_PATH and NVTX_INJECTION64_PATH (or LD_PRELOAD) naming "
                  "libllmprof_collector.so, and LLMPROF_LOG_DIR an existing folder; a process in a "
                  "container is asked from within that",
                  pid));
}

Error no_answer(pid_t pid, std::chrono::milliseconds patience) {
  const double seconds = std::chrono::duration<double>(patience).count();
  if (!is_there(pid)) return tool_error(fmt::format("process {} ended before it answered", pid));
  if (is_another_users(pid)) {
    return tool_error(fmt::format(
        "process {} belongs to another user: its collector answers that user and root alone", pid));
  }
  return tool_error(
      fmt::format("process {}: its collector did not answer within {:g} s; is the process stopped "
                  "(SIGSTOP, a debugger)?",
                  pid, seconds));
}

// Binding without a name makes the kernel assign one, so that an answer can arrive.
Result<FileDescriptor> open_datagram_socket(std::chrono::milliseconds patience) {
  FileDescriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  Address ours;
  ours.length = sizeof(sa_family_t);
  ours.storage.ss_family = AF_UNIX;
  const bool ready = socket.valid() && ::bind(socket.get(), ours.get(), ours.length) == 0 &&
                     limit_waits(socket, patience);
  if (!ready) return fail_with(tool_error("cannot open a socket: " + reason(errno)));
  return socket;
}

Result<std::string> understood(pid_t pid, std::string_view answer) {
  constexpr std::string_view kOk = "ok:";
  constexpr std::string_view kError = "error:";
  while (answer.ends_with('\0')) answer.remove_suffix(1);
  if (answer.starts_with(kOk)) return to_printable(trim(answer.substr(kOk.size())));
  if (answer.starts_with(kError)) answer.remove_prefix(kError.size());
  return fail_with(tool_error(fmt::format("process {}: {}", pid, to_printable(trim(answer)))));
}

}  // namespace

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

Result<std::string> ask_collector(pid_t pid, std::string_view question,
                                  std::chrono::milliseconds patience) {
  const auto socket = open_datagram_socket(patience);
  if (!socket) return fail_with(socket.error());
  const Address collector = collector_address(pid);
  // A connected socket accepts only the collector's answers.
  if (::connect(socket->get(), collector.get(), collector.length) != 0 ||
      ::send(socket->get(), question.data(), question.size(), MSG_NOSIGNAL) < 0) {
    const int error_number = errno;
    if (error_number == EAGAIN) return fail_with(no_answer(pid, patience));
    return fail_with(cannot_reach(pid, error_number));
  }
  std::array<char, 4096> answer{};
  const ssize_t size = receive(*socket, answer);
  if (size < 0) return fail_with(no_answer(pid, patience));
  return understood(pid, std::string_view(answer.data(), static_cast<size_t>(size)));
}

}  // namespace llmprof::capture
