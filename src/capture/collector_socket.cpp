#include "capture/collector_socket.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <span>
#include <system_error>

#include "base/files.h"
#include "base/text.h"

namespace llmprof::capture {
namespace {

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
