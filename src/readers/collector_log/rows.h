#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "readers/collector_log/records.h"
#include "trace/builder.h"
#include "wire/log_format.h"

namespace llmprof::collector_log {

// What the records of a log said about the log itself, and what was wrong with them.
struct Findings {
  uint64_t rows = 0;
  uint64_t unknown = 0;
  uint64_t bad_values = 0;
  uint64_t dropped = 0;
  uint64_t cut_names = 0;
  uint64_t lost_names = 0;
  uint64_t open_ranges = 0;
  uint64_t ends_without_start = 0;
  uint64_t outer_operators = 0;  // with others inside them
  bool closed = false;
  uint64_t chunks_when_closed = 0;
};

// Turns the records of one process, in the order of the file, into rows of the trace.
class Rows {
 public:
  Rows(TraceBuilder& builder, ProcessId process);

  // Records that follow are of the thread with this serial number; a ThreadInfo among them says
  // more.
  void begin_chunk(uint32_t serial) {
    serial_ = serial;
    thread_ = {};
  }
  void add(const Record& record);
  // Ends ranges and names everything: until then text columns hold the log's own keys.
  const Findings& finish();

 private:
  // Ranges are nested within a thread and a domain.
  struct Nesting {
    ThreadId thread;
    wire::StringKey domain;

    friend bool operator==(const Nesting&, const Nesting&) = default;
  };
  struct NestingHash {
    size_t operator()(const Nesting& nesting) const {
      return hash_mix(nesting.thread.value, nesting.domain);
    }
  };

  // Of the records that are being added; made with the first that needs it.
  ThreadId thread();
  void add_text(const Record& record);
  void add_thread(const Record& record);
  void add_push(const Record& record);
  void add_pop(const Record& record);
  void add_start(const Record& record);
  void add_end(const Record& record);
  void add_mark(const Record& record);
  void add_step(const Record& record);
  void add_operator(const Record& record);
  void add_dropped(const Record& record);
  void add_clean_end(const Record& record);
  size_t add_range(Nanoseconds start, Nanoseconds end, wire::StringKey domain, wire::StringKey name,
                   RangeKind kind);
  // Takes the payload out and judges its times; false counts it as bad.
  template <class Payload>
  bool take(const Record& record, Payload& payload);

  void end_started_ranges();
  StringId named(StringId key);
  void name_rows();

  TraceBuilder& builder_;
  ProcessId process_;
  uint32_t serial_ = 0;
  ThreadId thread_;
  size_t first_range_;
  size_t first_step_;
  size_t first_operator_;
  std::unordered_map<wire::StringKey, StringId> texts_;
  std::unordered_map<Nesting, std::vector<size_t>, NestingHash> open_;  // rows, by depth
  std::unordered_map<uint64_t, size_t> started_;                        // rows, by range
  std::vector<wire::RangeEnd> ends_;
  Findings findings_;
};

}  // namespace llmprof::collector_log
