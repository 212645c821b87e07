#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "readers/nsys_csv/rows.h"
#include "trace/builder.h"

namespace llmprof::readers::nsys_csv {

// The key of a process that is the only one or unknown; process ids have 32 bits.
inline constexpr uint64_t kOnlyProcess = UINT64_MAX;

// The processes of one capture. The GPU trace does not name the process of its work, but other
// reports do. If they name a single process, GPU work belongs to it, so that launches are found. If
// they name several, GPU work has no process.
class Processes {
 public:
  explicit Processes(trace::TraceBuilder& builder) : builder_(builder) {}

  // A process that the report names; 0: not stated.
  trace::ProcessId process(uint32_t pid) {
    if (pid == 0) {
      unnamed_work_ = true;
      return builder_.process(kOnlyProcess, first_pid_);
    }
    if (first_pid_ == 0) first_pid_ = pid;
    threads_by_pid_.try_emplace(pid);
    if (pid != first_pid_) return builder_.process(pid, pid);
    const trace::ProcessId only = builder_.process(kOnlyProcess, pid);
    builder_.process_info(only).pid = pid;
    return only;
  }

  trace::ThreadId thread(const Caller& caller) {
    const trace::ThreadId thread =
        builder_.thread(process(caller.process), caller.thread, caller.thread);
    threads_by_pid_[caller.process].push_back(thread);
    if (caller.name.valid() && builder_.thread_info(thread).name.empty()) {
      builder_.thread_info(thread).name = std::string(builder_.trace().strings[caller.name]);
    }
    return thread;
  }

  // Call before the capture ends. True if GPU work could not be assigned to one of several
  // processes.
  bool settle() {
    const bool ambiguous = unnamed_work_ && threads_by_pid_.size() - threads_by_pid_.count(0) > 1;
    if (ambiguous) {
      builder_.process_info(builder_.process(kOnlyProcess, 0)).pid = 0;
      const trace::ProcessId first = builder_.process(first_pid_, first_pid_);
      for (const trace::ThreadId thread : threads_by_pid_[first_pid_]) {
        builder_.thread_info(thread).process = first;
      }
    }
    unnamed_work_ = false;
    threads_by_pid_.clear();
    first_pid_ = 0;
    return ambiguous;
  }

 private:
  trace::TraceBuilder& builder_;
  bool unnamed_work_ = false;
  std::map<uint32_t, std::vector<trace::ThreadId>> threads_by_pid_;
  uint32_t first_pid_ = 0;
};

}  // namespace llmprof::readers::nsys_csv
