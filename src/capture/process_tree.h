#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "capture/process.h"

namespace llmprof::capture {

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

// How a program is started (process_launch.cpp).
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
