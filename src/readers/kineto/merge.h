#pragma once

#include <cstdint>
#include <unordered_map>

#include "readers/kineto/rows.h"
#include "trace/builder.h"

namespace llmprof::readers {

// Brings the rows that several threads have read into one trace, in the order of the file.
class KinetoMerge {
 public:
  explicit KinetoMerge(trace::TraceBuilder& builder);

  // Takes the rows away.
  void add(KinetoRows& rows);

  // When all rows are in: finds the process that GPU work belongs to, gives names to processes and
  // threads.
  void finish();

  [[nodiscard]] const KinetoCounts& counts() const { return counts_; }
  // Whether what was added last broke off within an event.
  [[nodiscard]] bool ends_within_event() const { return ends_within_event_; }

 private:
  void settle(KinetoRows& rows);
  void assign_processes();
  void name_tasks();

  trace::TraceBuilder& builder_;
  trace::Interner<trace::QueueId, KinetoQueue> queues_;
  KinetoCounts counts_;
  bool ends_within_event_ = false;
  size_t first_kernel_;
  size_t first_memory_operation_;
  size_t first_launch_;
  size_t first_operator_;
  struct TaskHash {
    size_t operator()(const KinetoThread& task) const { return task.hash(); }
  };
  std::unordered_map<KinetoThread, trace::StringId, TaskHash> thread_names_;
  std::unordered_map<uint64_t, trace::StringId> process_names_;
};

}  // namespace llmprof::readers
