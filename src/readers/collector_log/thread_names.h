#pragma once

#include <vector>

#include "readers/collector_log/records.h"
#include "trace/builder.h"
#include "wire/log_format.h"

namespace llmprof::readers::collector_log {

// Names that the program gave its threads. They say more than the system's names, which are cut at
// 15 bytes.
class ThreadNames {
 public:
  ThreadNames(trace::TraceBuilder& builder, trace::ProcessId process, Findings& findings)
      : builder_(builder), process_(process), findings_(findings) {}

  // By the thread `by`, which may name itself or another.
  void add(const Record& record, trace::ThreadId by);
  // Once all threads and texts are known.
  void finish(const Texts& texts);

 private:
  struct Given {
    trace::ThreadId by;
    wire::ThreadName name;
  };

  void name_all(uint32_t thread_id, const std::string& name);

  trace::TraceBuilder& builder_;
  trace::ProcessId process_;
  Findings& findings_;
  std::vector<Given> given_;
};

}  // namespace llmprof::readers::collector_log
