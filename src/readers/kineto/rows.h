#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "readers/shared/local_ids.h"
#include "trace/builder.h"
#include "trace/tables.h"

namespace llmprof::readers {

// A process or thread as the trace names it: usually a number, sometimes a word.
struct KinetoTaskId {
  uint64_t key = 0;
  uint64_t number = 0;  // 0 for a word

  friend bool operator==(const KinetoTaskId&, const KinetoTaskId&) = default;
};

struct KinetoThread {
  KinetoTaskId process;
  KinetoTaskId thread;

  friend bool operator==(const KinetoThread&, const KinetoThread&) = default;
  [[nodiscard]] size_t hash() const { return trace::hash_mix(process.key, thread.key); }
};

// A GPU event does not name its process.
struct KinetoQueue {
  uint32_t device = 0;
  uint32_t context = 0;
  uint32_t stream = 0;

  friend bool operator==(const KinetoQueue&, const KinetoQueue&) = default;
  [[nodiscard]] size_t hash() const {
    return trace::hash_mix(trace::hash_mix(device, context), stream);
  }
};

// What an event says about communication between ranks.
struct KinetoCollective {
  trace::CollectiveKind kind = trace::CollectiveKind::other;
  uint64_t bytes = 0;  // of one rank's message; 0: not stated
  trace::StringId group;
  trace::StringId members;
  uint32_t group_size = 0;
  uint64_t sequence = trace::kNoSequence;
};

struct KinetoTaskName {
  KinetoThread task;
  bool of_thread;  // otherwise of the process
  trace::StringId name;
};

// Events by how they were handled.
struct KinetoCounts {
  uint64_t usable = 0;    // understood, stored or not
  uint64_t bad = 0;       // not JSON, or without what an event of its kind requires
  uint64_t repaired = 0;  // held bytes that are not valid characters
  uint64_t skipped = 0;   // flows, instants, counters, the profiler's own marks
  uint64_t python_functions = 0;
  uint64_t gpu_annotations = 0;
  std::map<std::string, uint64_t, std::less<>> unknown_categories;
  std::set<std::string, std::less<>> python_packages;  // of the functions; at most a few hundred

  void operator+=(const KinetoCounts& other);
};

// What one thread has read of a trace, with the thread's own ids.
struct KinetoRows {
  LocalStrings strings;  // as in the file, including escapes
  LocalShapes shapes;
  LocalIds<trace::QueueId, KinetoQueue> queues;
  LocalIds<trace::ThreadId, KinetoThread> threads;

  trace::KernelTable kernels;
  trace::MemoryOperationTable memory_operations;
  trace::LaunchTable launches;
  std::vector<std::pair<trace::LaunchRow, trace::StringId>> launched_names;
  trace::OperatorTable operators;
  trace::RangeTable annotations;
  trace::RangeTable modules;
  trace::CollectiveTable collectives;
  std::vector<KinetoTaskName> task_names;
  KinetoCounts counts;
  bool ends_within_event = false;

  // Drops the rows; keeps the ids, unless there are too many to be worth keeping.
  void clear();
};

// Merges the rows that several threads have read into one trace, in the order of the file.
class KinetoMerge {
 public:
  explicit KinetoMerge(trace::TraceBuilder& builder);

  // Moves the rows out.
  void add(KinetoRows& rows);

  // After the last row: finds the process that GPU work belongs to, and names processes and
  // threads.
  void finish();

  [[nodiscard]] const KinetoCounts& counts() const { return counts_; }
  // Whether the rows added last ended within an event.
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
