#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"

namespace llmprof {

// One program to run: an argument list, never a shell string. Its stdin is /dev/null.
struct Command {
  std::vector<std::string> argv;  // argv[0]: a path, or a name to look up on PATH
  std::vector<std::pair<std::string, std::string>> environment;  // beside ours, or instead of it
  std::filesystem::path working_folder;                          // empty: ours
  std::filesystem::path stdout_file;                             // empty: into output_tail
  std::filesystem::path stderr_file;                             // empty: into output_tail
  size_t output_tail_bytes = 16UL << 10U;
  std::optional<std::chrono::milliseconds> timeout;
  // How long the group has between SIGTERM and SIGKILL.
  std::chrono::milliseconds grace = std::chrono::seconds(5);
  // Set from elsewhere (a signal handler, say), it ends the group as a timeout does.
  const std::atomic<bool>* stop = nullptr;
};

enum class ProcessEnd : uint8_t { exited, signalled, timed_out, stopped, not_started };

struct ProcessResult {
  ProcessEnd end = ProcessEnd::not_started;
  int exit_code = 0;    // when exited
  int signal = 0;       // when signalled
  int start_error = 0;  // errno when not_started: ENOENT is "no such program"
  std::string output_tail;
  uint64_t output_bytes = 0;  // all that went through output_tail, lost bytes included
  std::chrono::nanoseconds duration{0};

  [[nodiscard]] bool succeeded() const { return end == ProcessEnd::exited && exit_code == 0; }
};

// For a message: "exit code 3", "killed by signal 9 (Killed)", "no such file or directory".
std::string describe_end(const ProcessResult& result);

// Runs it in a process group of its own and waits for it. On a timeout the whole group is ended; a
// program that ends by itself may leave others of its group running. It gets SIGTERM when the
// calling thread dies. An error means that this machine could not even try.
Result<ProcessResult> run_process(const Command& command);

}  // namespace llmprof
