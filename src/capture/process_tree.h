#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace llmprof::capture {

// A process as /proc shows it. The start time (clock ticks since boot) tells it from a later one
// of the same number.
struct ProcessRow {
  pid_t pid = 0;
  pid_t parent = 0;
  unsigned long long start_time = 0;
  bool is_zombie = false;
};

std::optional<ProcessRow> read_process(pid_t pid);

// All that can be seen; empty where there is no /proc.
std::vector<ProcessRow> list_processes();

// What descends from `root`, parents before children, without `root`.
std::vector<ProcessRow> descendants_of(pid_t root, const std::vector<ProcessRow>& processes);

// Its argument list as it is now (programs may change it); empty where it cannot be read.
std::vector<std::string> process_arguments(pid_t pid);

// The first descendant of `wrapper` that runs `argv`: it itself, or an interpreter of the script
// that it names. 0 where there is none.
pid_t find_wrapped(pid_t wrapper, const std::vector<std::string>& argv);

}  // namespace llmprof::capture
