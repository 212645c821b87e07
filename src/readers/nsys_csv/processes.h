#pragma once

#include <map>
#include <vector>

#include "readers/nsys_csv/rows.h"
#include "trace/builder.h"

namespace llmprof::readers::nsys_csv {

// The processes of one capture. The GPU trace does not say whose work it lists, other reports do:
// where they know a single process it is that one, so that launches are found. Where they know
// several, the GPU's work has none of them.
class Processes {
 public:
  explicit Processes(trace::TraceBuilder& builder) : builder_(builder) {}

  // Of a process that the report names; 0 is "not said".
  trace::ProcessId process(uint32_t pid);
  trace::ThreadId thread(const CpuRow& row);

  // Before the capture ends. True when GPU work could not be given to one of several processes.
  bool settle();

 private:
  trace::TraceBuilder& builder_;
  bool unnamed_work_ = false;
  std::map<uint32_t, std::vector<trace::ThreadId>> threads_by_pid_;
  std::map<std::pair<uint32_t, uint32_t>, trace::ThreadId> threads_;
  uint32_t first_pid_ = 0;
};

}  // namespace llmprof::readers::nsys_csv
