#include "readers/nsys_csv/processes.h"

namespace llmprof::readers::nsys_csv {
namespace {

// The key of the process that is either the only one or unknown; process ids have 32 bits.
constexpr uint64_t kOnlyProcess = UINT64_MAX;

}  // namespace

trace::ProcessId Processes::process(uint32_t pid) {
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

trace::ThreadId Processes::thread(const CpuRow& row) {
  const auto [known, fresh] = threads_.try_emplace({row.process, row.thread});
  if (!fresh) return known->second;
  known->second = builder_.thread(process(row.process), row.thread, row.thread);
  threads_by_pid_[row.process].push_back(known->second);
  return known->second;
}

bool Processes::settle() {
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
  threads_.clear();
  first_pid_ = 0;
  return ambiguous;
}

}  // namespace llmprof::readers::nsys_csv
