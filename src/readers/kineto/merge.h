#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "readers/kineto/rows.h"
#include "trace/builder.h"

namespace llmprof::readers {

// Brings the rows that several threads have read into one trace, in the order of the file.
class KinetoMerge {
 public:
  // `readers`: how many threads read.
  KinetoMerge(trace::TraceBuilder& builder, size_t readers);

  void add(size_t reader, const KinetoRows& rows);

  // When all rows are in: finds the process that GPU work belongs to, gives names to processes and
  // threads.
  void finish();

  [[nodiscard]] const KinetoCounts& counts() const { return counts_; }
  // Whether what was added last broke off within an event.
  [[nodiscard]] bool ends_within_event() const { return ends_within_event_; }

 private:
  // A reader's numbering in the trace's.
  struct Translation {
    uint64_t numbering = 0;
    std::vector<trace::StringId> strings;
    std::vector<trace::ShapeId> shapes;
    std::vector<uint32_t> queues;  // rows of queues_
    std::vector<trace::ThreadId> threads;

    [[nodiscard]] trace::StringId string(LocalString local) const {
      return local.valid() ? strings[local.index()] : trace::StringId();
    }
  };

  void translate(const KinetoRows& rows, Translation& translation);
  void add_kernels(const KinetoRows& rows, const Translation& translation);
  void add_memory_operations(const KinetoRows& rows, const Translation& translation);
  void add_calls(const KinetoRows& rows, const Translation& translation);
  void add_collectives(const KinetoRows& rows, const Translation& translation);
  void assign_processes();
  void name_tasks();

  trace::TraceBuilder& builder_;
  std::vector<Translation> translations_;
  trace::Interner<LocalQueue, KinetoQueue> queues_;
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
