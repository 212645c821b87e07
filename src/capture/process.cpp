#include "capture/process.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <system_error>

#include "capture/executables.h"
#include "capture/process_launch.h"

namespace llmprof {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kShortestWait(1);
constexpr milliseconds kLongestWait(20);

// A running child and the pipe it writes to.
class Child {
 public:
  Child(StartedProcess started, size_t tail_bytes)
      : pid_(started.pid), output_(std::move(started.output)), tail_bytes_(tail_bytes) {}

  // True once it has ended; then it is reaped.
  bool reap(int flags = WNOHANG) {
    if (reaped_) return true;
    pid_t got = 0;
    do {
      got = ::waitpid(pid_, &status_, flags);
    } while (got < 0 && errno == EINTR);
    reaped_ = got != 0;
    return reaped_;
  }

  // Sleeps until there is output, but not for long; then takes it.
  void wait_a_little() {
    pollfd events{output_.get(), POLLIN, 0};
    ::poll(&events, 1, static_cast<int>(pause_.count()));
    pause_ = std::min(pause_ * 2, kLongestWait);
    drain();
  }

  // Takes what has been written; not more than a bounded amount, so that a survivor of the group
  // that writes without end cannot hold us.
  void drain() {
    std::array<char, 64UL << 10U> buffer;
    for (int rounds = 0; rounds < 64 && output_.valid(); ++rounds) {
      const ssize_t got = ::read(output_.get(), buffer.data(), buffer.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && errno == EAGAIN) return;
      if (got <= 0) {
        output_ = FileDescriptor(-1);
        return;
      }
      keep({buffer.data(), static_cast<size_t>(got)});
    }
  }

  // SIGTERM, then SIGKILL, to every process of the group. Once the leader is reaped its number
  // stays taken as long as the group has members.
  void end_group(milliseconds grace) {
    ::kill(-pid_, SIGTERM);
    ::kill(-pid_, SIGCONT);
    const Clock::time_point deadline = Clock::now() + grace;
    pause_ = kShortestWait;
    while (Clock::now() < deadline) {
      if (reap() && ::kill(-pid_, 0) != 0) return;
      wait_a_little();
    }
    ::kill(-pid_, SIGKILL);
    reap(0);
  }

  [[nodiscard]] int status() const { return status_; }
  [[nodiscard]] uint64_t output_bytes() const { return output_bytes_; }
  std::string take_tail() {
    if (tail_.size() > tail_bytes_) tail_.erase(0, tail_.size() - tail_bytes_);
    return std::move(tail_);
  }

 private:
  void keep(std::string_view text) {
    output_bytes_ += text.size();
    tail_.append(text);
    if (tail_.size() > 2 * tail_bytes_) tail_.erase(0, tail_.size() - tail_bytes_);
  }

  pid_t pid_;
  FileDescriptor output_;
  size_t tail_bytes_;
  std::string tail_;
  uint64_t output_bytes_ = 0;
  milliseconds pause_ = kShortestWait;
  int status_ = 0;
  bool reaped_ = false;
};

ProcessResult watch(Child& child, const Command& command, Clock::time_point started) {
  ProcessResult result;
  result.end = ProcessEnd::exited;
  while (!child.reap()) {
    if (command.stop != nullptr && command.stop->load()) {
      result.end = ProcessEnd::stopped;
    } else if (command.timeout && Clock::now() - started >= *command.timeout) {
      result.end = ProcessEnd::timed_out;
    }
    if (result.end != ProcessEnd::exited) {
      child.end_group(command.grace);
      break;
    }
    child.wait_a_little();
  }
  child.drain();
  if (result.end == ProcessEnd::exited && WIFSIGNALED(child.status())) {
    result.end = ProcessEnd::signalled;
    result.signal = WTERMSIG(child.status());
  } else if (result.end == ProcessEnd::exited) {
    result.exit_code = WEXITSTATUS(child.status());
  }
  result.output_bytes = child.output_bytes();
  result.output_tail = child.take_tail();
  return result;
}

}  // namespace

std::string describe_end(const ProcessResult& result) {
  switch (result.end) {
    case ProcessEnd::exited:
      return fmt::format("exit code {}", result.exit_code);
    case ProcessEnd::signalled: {
      const char* name = ::sigdescr_np(result.signal);
      return fmt::format("killed by signal {} ({})", result.signal, name == nullptr ? "?" : name);
    }
    case ProcessEnd::timed_out:
      return fmt::format("not finished after {:.0f} s, so it was ended",
                         std::chrono::duration<double>(result.duration).count());
    case ProcessEnd::stopped:
      return "interrupted";
    case ProcessEnd::not_started:
      return std::generic_category().message(result.start_error);
  }
  return "unknown end";
}

Result<ProcessResult> run_process(const Command& command) {
  if (command.argv.empty()) return fail(ErrorKind::internal, "cannot start a program: no name");
  const Clock::time_point begin = Clock::now();
  ProcessResult not_started;
  std::string executable = command.argv.front();
  if (executable.find('/') == std::string::npos) {
    const char* path_list = ::getenv("PATH");
    const auto found = find_executable(executable, path_list == nullptr ? "" : path_list);
    not_started.start_error = ENOENT;
    if (!found) return not_started;
    std::error_code status;  // the working folder may differ from ours
    executable = std::filesystem::absolute(*found, status).string();
  }
  auto started = start_process(command, executable);
  if (!started) return fail_with(started.error());
  not_started.start_error = started->start_error;
  Child child(std::move(*started), command.output_tail_bytes);
  if (not_started.start_error != 0) {
    child.reap(0);
    return not_started;
  }
  ProcessResult result = watch(child, command, begin);
  result.duration = Clock::now() - begin;
  return result;
}

}  // namespace llmprof
