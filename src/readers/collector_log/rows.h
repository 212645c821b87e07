#pragma once

#include <cstdint>

#include "readers/collector_log/annotation_rows.h"
#include "readers/collector_log/counter_rows.h"
#include "readers/collector_log/decoded_chunks.h"
#include "readers/collector_log/device_rows.h"
#include "readers/collector_log/launch_rows.h"
#include "readers/collector_log/session_facts.h"

namespace llmprof::readers::collector_log {

// Turns the records of one process, in the order of the file, into rows of the trace.
class Rows {
 public:
  Rows(trace::TraceBuilder& builder, trace::ProcessId process);
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;

  // Chunks that follow those added before.
  void add(const DecodedChunks& chunks);
  // Makes room for `times` the rows of this log so far, and a little more: growing step by step
  // would touch every column's memory twice.
  void expect(uint64_t times);
  // Settles what may stand after its use in the file: names, definitions, ends of ranges.
  const Findings& finish();

 private:
  // Records that follow are of the thread with this serial number; a ThreadInfo among them says
  // more.
  void begin_thread(uint32_t serial) {
    serial_ = serial;
    thread_ = {};
  }
  void add(const Record& record);
  // Of the records that are being added; made with the first that needs it.
  trace::ThreadId thread();
  void add_thread(const Record& record);
  // Hands the payload to `target`, with the bytes behind it or whatever else it takes, unless it is
  // too short or not sane.
  template <class Payload, class Target, class... With>
  void give(const Record& record, Target& target, const With&... with);
  template <class Payload, class Target, class... With>
  void give_list(const Record& record, Target& target, With&... with);

  trace::TraceBuilder& builder_;
  trace::ProcessId process_;
  size_t first_kernel_;
  size_t first_launch_;
  size_t first_range_;
  uint32_t serial_ = 0;
  trace::ThreadId thread_;
  Findings findings_;
  Texts texts_;
  AnnotationRows annotations_;
  LaunchRows launches_;
  DeviceRows devices_;
  CounterRows counters_;
  SessionFacts session_;
};

}  // namespace llmprof::readers::collector_log
