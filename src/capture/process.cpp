#include "capture/process.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <mutex>
#include <string_view>
#include <system_error>

#include "base/machine.h"
#include "capture/shell.h"

namespace llmprof::capture {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kShortestWait(1);
constexpr milliseconds kLongestWait(20);

// For processes that outlive the program: shorter than for a program that still writes its report.
constexpr milliseconds kSurvivorGrace(3000);
// Helpers of a program that ended well (nsys's agent) end by themselves within this time.
constexpr milliseconds kSurvivorPatience(1000);
constexpr milliseconds kLimitInterval(200);

// The processes that we started ourselves and have not reaped. Any other child of ours was
// reparented to us when its own parent died.
class DirectChildren {
 public:
  void add(pid_t pid) {
    const std::scoped_lock lock(mutex_);
    pids_.push_back(pid);
  }
  void remove(pid_t pid) {
    const std::scoped_lock lock(mutex_);
    std::erase(pids_, pid);
  }
  bool has(pid_t pid) {
    const std::scoped_lock lock(mutex_);
    return std::find(pids_.begin(), pids_.end(), pid) != pids_.end();
  }

 private:
  std::mutex mutex_;
  std::vector<pid_t> pids_;
};

DirectChildren& direct_children() {
  static DirectChildren children;
  return children;
}

// "/bin/sh" for "sh"; empty if it is not on PATH.
std::string resolve(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const auto found = find_executable(name, environment_variable("PATH"));
  if (!found) return {};
  return absolute_path(*found).string();  // the working folder may differ from ours
}

// A running child and the pipe it writes to.
class Process final : public RunningProcess {
 public:
  explicit Process(const Command& command) : command_(command) {}
  ~Process() override {
    if (pid_ != 0 && !left_) finish(ProcessEnd::stopped);
  }

  Result<void> try_to_start() {
    const std::string executable = resolve(command_.argv.front());
    if (executable.empty()) {
      not_started(ENOENT);
      return {};
    }
    if (command_.whole_tree) ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    auto started = start_process(command_, executable);
    if (!started) return fail_with(started.error());
    pid_ = started->pid;
    output_ = std::move(started->output);
    direct_children().add(pid_);
    if (const auto row = read_process(pid_)) start_time_ = row->start_time;
    if (started->start_error != 0) {
      if (command_.whole_tree) ::prctl(PR_SET_CHILD_SUBREAPER, 0);
      reap(0);
      not_started(started->start_error);
    }
    return {};
  }

  bool ended() override {
    if (result_) return true;
    if (reap()) {
      finish(ProcessEnd::exited);
    } else if (command_.stop != nullptr && command_.stop->load()) {
      finish(ProcessEnd::stopped);
    } else if (command_.timeout && Clock::now() - begin_ >= *command_.timeout) {
      finish(ProcessEnd::timed_out);
    } else if (is_over_limit()) {
      finish(ProcessEnd::over_limit);
    } else {
      end_what_is_enough();
      wait_a_little();
    }
    return result_.has_value();
  }
  [[nodiscard]] pid_t pid() const override { return pid_; }
  void end() override { finish(ProcessEnd::stopped); }
  void leave() override { left_ = true; }
  ProcessResult take_result() override { return result_ ? std::move(*result_) : ProcessResult{}; }

 private:
  void not_started(int error_number) {
    result_.emplace();
    result_->start_error = error_number;
  }

  void finish(ProcessEnd how) {
    if (result_) return;
    ProcessResult result;
    result.end = how;
    if (how == ProcessEnd::exited) {
      result.duration = Clock::now() - begin_;
      end_what_is_left(command_.grace);
    } else {
      end_group(command_.grace);
      result.duration = Clock::now() - begin_;
    }
    if (command_.whole_tree) ::prctl(PR_SET_CHILD_SUBREAPER, 0);
    drain();
    if (how == ProcessEnd::exited && WIFSIGNALED(status_)) {
      result.end = ProcessEnd::signalled;
      result.signal = WTERMSIG(status_);
    } else if (how == ProcessEnd::exited) {
      result.exit_code = WEXITSTATUS(status_);
    }
    result.was_enough = enough_since_.has_value();
    result.output_bytes = output_bytes_;
    if (tail_.size() > command_.output_tail_bytes) {
      tail_.erase(0, tail_.size() - command_.output_tail_bytes);
    }
    result.output_tail = std::move(tail_);
    result_ = std::move(result);
  }

  bool is_over_limit() {
    if (!command_.is_over_limit || Clock::now() < next_limit_check_) return false;
    const Clock::time_point before = Clock::now();
    const bool is_over = command_.is_over_limit();
    // Slow checks run less often, so that they do not take the program's time.
    next_limit_check_ =
        Clock::now() + std::max<Clock::duration>(kLimitInterval, (Clock::now() - before) * 10);
    return is_over;
  }

  void end_what_is_enough() {
    if (!command_.is_enough || Clock::now() < next_enough_check_) return;
    next_enough_check_ = Clock::now() + kLimitInterval;
    if (!enough_since_) {
      if (!command_.is_enough(command_.stdout_file)) return;
      enough_since_ = Clock::now();
      signal_descendants(SIGTERM);
    } else if (Clock::now() - *enough_since_ >= command_.grace) {
      signal_descendants(SIGKILL);
    }
  }

  // True once it has ended; then it is reaped.
  bool reap(int flags = WNOHANG) {
    if (reaped_) return true;
    pid_t got = 0;
    do {
      got = ::waitpid(pid_, &status_, flags);
    } while (got < 0 && errno == EINTR);
    reaped_ = got != 0;
    if (reaped_) direct_children().remove(pid_);
    return reaped_;
  }

  // Sleeps until there is output, but not for long; then reads it.
  void wait_a_little() {
    pollfd events{output_.get(), POLLIN, 0};
    ::poll(&events, 1, static_cast<int>(pause_.count()));
    pause_ = std::min(pause_ * 2, kLongestWait);
    drain();
  }

  // Reads available output up to a limit, so that a surviving group member that writes endlessly
  // cannot block us.
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

  // SIGTERM, then SIGKILL, to every process of the group. After the leader is reaped, its number
  // stays in use as long as the group has members.
  void end_group(milliseconds grace) {
    ::kill(-pid_, SIGTERM);
    ::kill(-pid_, SIGCONT);
    const auto is_gone = [this] { return reap() && (command_.whole_tree || is_group_empty()); };
    if (!wait_until(grace, is_gone)) {
      // Its descendants can still be found.
      if (command_.whole_tree) signal_all(survivors(), SIGKILL);
      ::kill(-pid_, SIGKILL);
      reap(0);
    }
    if (command_.whole_tree) end_survivors(std::min(grace, kSurvivorGrace));
  }

  // While the program itself runs.
  void signal_descendants(int signal) const {
    for (const ProcessRow& row : descendants_of(pid_, list_processes())) {
      if (!row.is_zombie) ::kill(row.pid, signal);
    }
  }

  // For processes that outlive a program that ended by itself.
  void end_what_is_left(milliseconds grace) {
    if (!command_.whole_tree ||
        wait_until(kSurvivorPatience, [this] { return survivors().empty(); })) {
      return;
    }
    end_survivors(std::min(grace, kSurvivorGrace));
  }

  template <class Done>
  bool wait_until(milliseconds limit, const Done& done) {
    const Clock::time_point deadline = Clock::now() + limit;
    pause_ = kShortestWait;
    while (!done()) {
      if (Clock::now() >= deadline) return false;
      wait_a_little();
    }
    return true;
  }

  // A member whose parent died may have become our child, and stays in the group until we reap it.
  [[nodiscard]] bool is_group_empty() const {
    while (::waitpid(-pid_, nullptr, WNOHANG) > 0) {
    }
    return ::kill(-pid_, 0) != 0;
  }

  // Live descendants, including those reparented to us.
  [[nodiscard]] std::vector<pid_t> survivors() const {
    const std::vector<ProcessRow> processes = list_processes();
    std::vector<pid_t> alive;
    const auto add = [&](const ProcessRow& row) {
      if (!row.is_zombie) alive.push_back(row.pid);
    };
    for (const ProcessRow& row : descendants_of(pid_, processes)) add(row);
    for (const ProcessRow& row : processes) {
      const bool is_handed_over = row.parent == ::getpid() && !direct_children().has(row.pid);
      if (!is_handed_over || row.start_time < start_time_) continue;
      add(row);
      for (const ProcessRow& below : descendants_of(row.pid, processes)) add(below);
      if (row.is_zombie) ::waitpid(row.pid, nullptr, WNOHANG);
    }
    return alive;
  }

  static void signal_all(const std::vector<pid_t>& pids, int signal) {
    for (const pid_t pid : pids) ::kill(pid, signal);
  }

  void end_survivors(milliseconds grace) {
    signal_all(survivors(), SIGTERM);
    if (wait_until(grace, [this] { return survivors().empty(); })) return;
    // Each round finds processes that were started during the previous one.
    wait_until(kSurvivorGrace, [this] {
      const std::vector<pid_t> left = survivors();
      signal_all(left, SIGKILL);
      return left.empty();
    });
  }

  void keep(std::string_view text) {
    output_bytes_ += text.size();
    tail_.append(text);
    if (tail_.size() > 2 * command_.output_tail_bytes)
      tail_.erase(0, tail_.size() - command_.output_tail_bytes);
  }

  const Command& command_;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point next_limit_check_ = begin_;
  Clock::time_point next_enough_check_ = begin_;
  std::optional<Clock::time_point> enough_since_;
  pid_t pid_ = 0;  // 0: not started
  FileDescriptor output_{-1};
  unsigned long long start_time_ = 0;
  std::string tail_;
  uint64_t output_bytes_ = 0;
  milliseconds pause_ = kShortestWait;
  int status_ = 0;
  bool reaped_ = false;
  bool left_ = false;
  std::optional<ProcessResult> result_;
};

}  // namespace

Result<std::unique_ptr<RunningProcess>> RunningProcess::start(const Command& command) {
  if (command.argv.empty()) return fail(ErrorKind::internal, "cannot start a program: no name");
  auto process = std::make_unique<Process>(command);
  if (auto started = process->try_to_start(); !started) return fail_with(started.error());
  return process;
}

std::string describe_end(const ProcessResult& result) {
  switch (result.end) {
    case ProcessEnd::exited:
      return fmt::format("exit code {}", result.exit_code);
    case ProcessEnd::signalled: {
      const char* name = ::sigdescr_np(result.signal);
      return fmt::format("killed by signal {} ({})", result.signal, name == nullptr ? "?" : name);
    }
    case ProcessEnd::timed_out:
      return fmt::format("not finished after {:.0f} s, so it was terminated",
                         std::chrono::duration<double>(result.duration).count());
    case ProcessEnd::over_limit:
      return "its files exceeded the size limit, so it was terminated";
    case ProcessEnd::stopped:
      return "interrupted";
    case ProcessEnd::not_started:
      return std::generic_category().message(result.start_error);
  }
  return "unknown end";
}

Result<void> open_detached(const std::vector<std::string>& argv, milliseconds patience) {
  Command command;
  command.argv = argv;
  command.stdout_file = command.stderr_file = "/dev/null";
  command.detached = true;
  const auto process = RunningProcess::start(command);
  if (!process) return fail_with(process.error());
  for (const auto until = Clock::now() + patience; !(*process)->ended();) {
    if (Clock::now() < until) continue;
    (*process)->leave();
    return {};
  }
  const ProcessResult result = (*process)->take_result();
  if (result.succeeded()) return {};
  if (result.end == ProcessEnd::not_started) {
    return fail(ErrorKind::tool, fmt::format("{}: {}", argv.front(), describe_end(result)));
  }
  const bool killed = result.end == ProcessEnd::signalled;
  return fail(ErrorKind::tool,
              fmt::format("{} failed ({})", argv.front(),
                          killed ? fmt::format("signal {}", result.signal) : describe_end(result)));
}

Result<ProcessResult> ask_program(std::vector<std::string> argv, milliseconds timeout,
                                  size_t answer_bytes) {
  Command command;
  command.argv = std::move(argv);
  command.environment = {{"LC_ALL", "C"}};
  command.timeout = timeout;
  command.grace = milliseconds(0);
  command.output_tail_bytes = answer_bytes;
  return run_process(command);
}

Result<ProcessResult> run_process(const Command& command) {
  auto running = RunningProcess::start(command);
  if (!running) return fail_with(running.error());
  while (!(*running)->ended()) {
  }
  return (*running)->take_result();
}

}  // namespace llmprof::capture
