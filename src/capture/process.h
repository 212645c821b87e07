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
#include "base/files.h"

namespace llmprof::capture {

// One program to run: an argument list, never a shell string. Its stdin is /dev/null.
struct Command {
  std::vector<std::string> argv;  // argv[0]: a path, or a name to look up on PATH
  std::vector<std::pair<std::string, std::string>> environment;  // added to ours; overrides it
  std::filesystem::path working_folder;                          // empty: ours
  // Empty: to output_tail. If both name the same file, it keeps the order of writing.
  std::filesystem::path stdout_file;
  std::filesystem::path stderr_file;
  size_t output_tail_bytes = 16UL << 10U;
  std::optional<std::chrono::milliseconds> timeout;
  // How long the group has between SIGTERM and SIGKILL.
  std::chrono::milliseconds grace = std::chrono::seconds(5);
  // Setting it elsewhere (in a signal handler, for example) ends the group as a timeout does.
  const std::atomic<bool>* stop = nullptr;
  // Called from time to time; true ends the group as a timeout does.
  std::function<bool()> is_over_limit;
  // Called from time to time with the file that stdout goes to; true ends what the program started
  // (SIGTERM, and SIGKILL after the grace), not the program itself: a profiler then writes its
  // report.
  std::function<bool(const std::filesystem::path&)> is_enough;
  // Everything it started ends with it, including processes that left its group or became daemons
  // (profilers run the profiled program in its own session). For one such command at a time.
  bool whole_tree = false;
  // Continues when we end, in its own session.
  bool detached = false;
};

enum class ProcessEnd : uint8_t { exited, signalled, timed_out, over_limit, stopped, not_started };

struct ProcessResult {
  ProcessEnd end = ProcessEnd::not_started;
  int exit_code = 0;    // when exited
  int signal = 0;       // when signalled
  int start_error = 0;  // errno when not_started: ENOENT is "no such program"
  std::string output_tail;
  uint64_t output_bytes = 0;  // everything that went through output_tail, including lost bytes
  std::chrono::nanoseconds duration{0};
  bool was_enough = false;  // what it started was ended because is_enough returned true

  [[nodiscard]] bool succeeded() const { return end == ProcessEnd::exited && exit_code == 0; }
  // Ended by us, before its own end.
  [[nodiscard]] bool hit_limit() const {
    return end == ProcessEnd::timed_out || end == ProcessEnd::over_limit ||
           end == ProcessEnd::stopped;
  }
};

// For a message: "exit code 3", "killed by signal 9 (Killed)", "no such file or directory".
std::string describe_end(const ProcessResult& result);

// A program in its own process group. It gets SIGTERM when the thread that started it dies; what it
// started then ends if it passes the signal on, as nsys does.
class RunningProcess {
 public:
  // An error means that this machine could not even try. `command` must outlive the process.
  static Result<std::unique_ptr<RunningProcess>> start(const Command& command);
  RunningProcess() = default;
  RunningProcess(const RunningProcess&) = delete;
  RunningProcess& operator=(const RunningProcess&) = delete;
  virtual ~RunningProcess() = default;  // ends it

  // Waits at most some ten milliseconds. True once it has ended, by itself or, within this call, by
  // a limit of its command: its result is then available.
  virtual bool ended() = 0;
  [[nodiscard]] virtual pid_t pid() const = 0;
  // SIGTERM, and SIGKILL after the grace, as after a timeout.
  virtual void end() = 0;
  // A detached process continues without us.
  virtual void leave() = 0;
  virtual ProcessResult take_result() = 0;
};

// Starts it and waits for it. A timeout ends the whole group; a program that ends by itself may
// leave others of its group running, unless `whole_tree` is set.
Result<ProcessResult> run_process(const Command& command);

// The same for a program that only answers a question, in the C locale.
Result<ProcessResult> ask_program(std::vector<std::string> argv, std::chrono::milliseconds timeout,
                                  size_t answer_bytes = 16UL << 10U);
// Starts a program that continues when we end (a browser), without our terminal. Waits only as long
// as an opener takes to hand over to another program: failing in that time is an error, still
// running is not.
Result<void> open_detached(const std::vector<std::string>& argv,
                           std::chrono::milliseconds patience);

// A process as /proc shows it. The start time (clock ticks since boot) distinguishes it from a
// later one with the same number.
struct ProcessRow {
  pid_t pid = 0;
  pid_t parent = 0;
  unsigned long long start_time = 0;
  bool is_zombie = false;
};

std::optional<ProcessRow> read_process(pid_t pid);

// All visible processes; empty if there is no /proc.
std::vector<ProcessRow> list_processes();

// Descendants of `root`, parents before children, without `root`.
std::vector<ProcessRow> descendants_of(pid_t root, const std::vector<ProcessRow>& processes);

// Its current argument list (programs may change it); empty if it cannot be read.
std::vector<std::string> process_arguments(pid_t pid);

// The first descendant of `wrapper` that runs `argv`, directly or as an interpreter's script. 0 if
// there is none.
pid_t find_wrapped(pid_t wrapper, const std::vector<std::string>& argv);

// How a program is started.
struct StartedProcess {
  pid_t pid = -1;
  // errno that kept the program from running; 0 once it runs. The child must be reaped in either
  // case.
  int start_error = 0;
  // Output for output_tail, non-blocking; invalid if there is none.
  FileDescriptor output{-1};
};

// Forks, leads a new process group and becomes `executable`.
Result<StartedProcess> start_process(const Command& command, const std::string& executable);

}  // namespace llmprof::capture
