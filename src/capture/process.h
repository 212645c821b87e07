#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"

namespace llmprof::capture {

// One program to run: an argument list, never a shell string. Its stdin is /dev/null.
struct Command {
  std::vector<std::string> argv;  // argv[0]: a path, or a name to look up on PATH
  std::vector<std::pair<std::string, std::string>> environment;  // beside ours, or instead of it
  std::filesystem::path working_folder;                          // empty: ours
  // Empty: into output_tail. The same file for both holds them in the order they were written.
  std::filesystem::path stdout_file;
  std::filesystem::path stderr_file;
  size_t output_tail_bytes = 16UL << 10U;
  std::optional<std::chrono::milliseconds> timeout;
  // How long the group has between SIGTERM and SIGKILL.
  std::chrono::milliseconds grace = std::chrono::seconds(5);
  // Set from elsewhere (a signal handler, say), it ends the group as a timeout does.
  const std::atomic<bool>* stop = nullptr;
  // Asked every now and then; true ends the group as a timeout does.
  std::function<bool()> is_over_limit;
  // Likewise, with the file that stdout goes to; true ends what the program started (SIGTERM, and
  // SIGKILL after the grace), not the program itself: a profiler then writes its report.
  std::function<bool(const std::filesystem::path&)> is_enough;
  // Whatever it started ends with it, also what left its group or became a daemon (profilers run
  // the profiled program in a session of its own). For one such command at a time.
  bool whole_tree = false;
  // It goes on when we end, in a session of its own.
  bool detached = false;
};

enum class ProcessEnd : uint8_t { exited, signalled, timed_out, over_limit, stopped, not_started };

struct ProcessResult {
  ProcessEnd end = ProcessEnd::not_started;
  int exit_code = 0;    // when exited
  int signal = 0;       // when signalled
  int start_error = 0;  // errno when not_started: ENOENT is "no such program"
  std::string output_tail;
  uint64_t output_bytes = 0;  // all that went through output_tail, lost bytes included
  std::chrono::nanoseconds duration{0};
  bool was_enough = false;  // what it started was ended, as is_enough said

  [[nodiscard]] bool succeeded() const { return end == ProcessEnd::exited && exit_code == 0; }
};

// For a message: "exit code 3", "killed by signal 9 (Killed)", "no such file or directory".
std::string describe_end(const ProcessResult& result);

// A program in a process group of its own. It gets SIGTERM when the thread that started it dies;
// what it started then ends where it passes that on, as nsys does.
class RunningProcess {
 public:
  // An error means that this machine could not even try. `command` must outlive the process.
  static Result<std::unique_ptr<RunningProcess>> start(const Command& command);
  RunningProcess(const RunningProcess&) = delete;
  RunningProcess& operator=(const RunningProcess&) = delete;
  ~RunningProcess();  // ends it

  // Waits a little, not longer than some ten milliseconds. True once it has ended, by itself or,
  // within this call, by a limit of its command: then its result is there.
  bool ended();
  [[nodiscard]] pid_t pid() const;
  // SIGTERM, and SIGKILL after the grace, as after a timeout.
  void end() { finish(ProcessEnd::stopped); }
  // A detached one goes on without us.
  void leave();
  ProcessResult take_result() { return result_ ? std::move(*result_) : ProcessResult{}; }

 private:
  using Clock = std::chrono::steady_clock;
  class Child;

  explicit RunningProcess(const Command& command);
  Result<void> try_to_start();
  void not_started(int error_number);
  void finish(ProcessEnd how);
  bool is_over_limit();
  void end_what_is_enough();

  const Command& command_;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point next_limit_check_ = begin_;
  Clock::time_point next_enough_check_ = begin_;
  std::optional<Clock::time_point> enough_since_;
  std::unique_ptr<Child> child_;
  std::optional<ProcessResult> result_;
};

// Starts it and waits for it. On a timeout the whole group is ended; a program that ends by itself
// may leave others of its group running, unless its whole tree is to end.
Result<ProcessResult> run_process(const Command& command);

// Starts a program that goes on when we end (a browser), with no terminal of ours. Waits only as
// long as an opener that hands over to another program takes: one that fails in that time is an
// error, one that still runs is fine.
Result<void> open_detached(const std::vector<std::string>& argv,
                           std::chrono::milliseconds patience);

}  // namespace llmprof::capture
