#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/ids.h"
#include "trace/interner.h"
#include "trace/tables.h"

namespace llmprof::readers {

// What one thread has read of a trace, in its own numbering: names, shapes, queues and threads are
// numbered here and translated when the rows are merged, so that the threads share nothing.
using LocalString = trace::Id<struct LocalStringKind>;
using LocalShape = trace::Id<struct LocalShapeKind>;
using LocalQueue = trace::Id<struct LocalQueueKind>;
using LocalThread = trace::Id<struct LocalThreadKind>;

// A process or thread as the trace names it: mostly a number, sometimes a word.
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

// A GPU event does not say whose process it is.
struct KinetoQueue {
  uint32_t device = 0;
  uint32_t context = 0;
  uint32_t stream = 0;

  friend bool operator==(const KinetoQueue&, const KinetoQueue&) = default;
  [[nodiscard]] size_t hash() const {
    return trace::hash_mix(trace::hash_mix(device, context), stream);
  }
};

struct KinetoKernel {
  Nanoseconds start;
  Nanoseconds end;
  uint64_t external_id;
  uint64_t graph_node;
  LocalString name;
  LocalShape shape;
  LocalQueue queue;
  uint32_t correlation;
  uint32_t graph;
};

struct KinetoMemoryOperation {
  Nanoseconds start;
  Nanoseconds end;
  uint64_t bytes;
  LocalString detail;
  LocalQueue queue;
  uint32_t correlation;
  trace::MemoryKind kind;
  trace::MemoryPlace from;
  trace::MemoryPlace to;
};

// An API call, an operator or an annotation.
struct KinetoCall {
  Nanoseconds start;
  Nanoseconds end;
  uint64_t external_id;
  LocalString name;
  LocalThread thread;
  uint32_t correlation;
  LocalString kernel = {};  // that an API call launches, where it says so
};

// What an event says of communication between ranks: of a kernel its times and correlation, of an
// operator or annotation its own, with its thread.
struct KinetoCollective {
  Nanoseconds start = 0;
  Nanoseconds end = 0;
  uint64_t external_id = 0;
  uint64_t bytes = 0;  // of the message of one rank; 0: not stated
  uint64_t sequence = trace::kNoSequence;
  LocalThread thread;
  LocalString group;
  LocalString members;
  uint32_t correlation = 0;
  uint32_t group_size = 0;
  trace::CollectiveKind kind = trace::CollectiveKind::other;
};

struct KinetoTaskName {
  KinetoThread task;
  bool of_thread;  // else of the process
  LocalString name;
};

// Events by what became of them.
struct KinetoCounts {
  uint64_t usable = 0;    // understood, stored or not
  uint64_t bad = 0;       // no JSON, or without what an event of its kind must have
  uint64_t repaired = 0;  // held bytes that are not valid characters
  uint64_t skipped = 0;   // flows, instants, counters, the profiler's own marks
  uint64_t python_functions = 0;
  uint64_t gpu_annotations = 0;
  std::map<std::string, uint64_t, std::less<>> unknown_categories;
  std::set<std::string, std::less<>> python_packages;  // of the functions; a few hundred at most

  void operator+=(const KinetoCounts& other);
};

// Hashes eight bytes at a time; kernel names run to hundreds of characters.
struct RawTextHash {
  size_t operator()(std::string_view text) const;
};

// Strings as they stand in the file, escapes and all, each once.
class LocalStrings {
 public:
  LocalString intern(std::string_view raw);
  // The meaning of string `i`.
  [[nodiscard]] std::string text(size_t i) const;
  [[nodiscard]] size_t size() const { return raw_.size(); }
  [[nodiscard]] size_t bytes() const { return bytes_; }

 private:
  std::deque<std::string> raw_;
  std::unordered_map<std::string_view, LocalString, RawTextHash> ids_;
  size_t bytes_ = 0;
};

struct KinetoRows {
  LocalStrings strings;
  trace::Interner<LocalShape, trace::LaunchShape> shapes;
  trace::Interner<LocalQueue, KinetoQueue> queues;
  trace::Interner<LocalThread, KinetoThread> threads;

  std::vector<KinetoKernel> kernels;
  std::vector<KinetoMemoryOperation> memory_operations;
  std::vector<KinetoCall> launches;
  std::vector<KinetoCall> operators;
  std::vector<KinetoCall> annotations;
  std::vector<KinetoCall> modules;
  std::vector<KinetoCollective> collectives;
  std::vector<KinetoTaskName> task_names;
  KinetoCounts counts;
  bool ends_within_event = false;

  // Forgets the rows; the numbering stays, unless it has grown beyond what is worth keeping.
  void clear();
  // Counts up whenever the numbering began anew.
  uint64_t numbering = 0;
};

}  // namespace llmprof::readers
