#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "readers/collector_log/records.h"
#include "readers/collector_log/operator_kernels.h"
#include "trace/builder.h"
#include "wire/log_format.h"

namespace llmprof::readers::collector_log {

// What a program told of itself: ranges, marks, steps, CPU operators and collectives, each by the
// thread that recorded it.
class AnnotationRows {
 public:
  AnnotationRows(trace::TraceBuilder& builder, Findings& findings);

  void add_push(const Record& record, trace::ThreadId thread);
  void add_pop(const Record& record, trace::ThreadId thread);
  void add_start(const Record& record, trace::ThreadId thread);
  void add_end(const Record& record);
  void add_mark(const Record& record, trace::ThreadId thread);
  void add_step(const Record& record, trace::ThreadId thread);
  void add_operator(const Record& record, trace::ThreadId thread);
  // Also an operator.
  void add_collective(const Record& record, trace::ThreadId thread);

  // The push/pop range that this thread opened last of those still open, whatever their domains.
  [[nodiscard]] trace::RangeRow innermost(trace::ThreadId thread) const;

  // Ends ranges and names everything: until then text columns hold the log's own keys.
  void finish(Texts& texts);

  [[nodiscard]] size_t first_operator() const { return first_operator_; }
  [[nodiscard]] const CollectiveOperators& collectives() const { return collectives_; }
  [[nodiscard]] size_t rows() const;

 private:
  // Ranges are nested within a thread and a domain.
  struct Nesting {
    trace::ThreadId thread;
    wire::StringKey domain;

    friend bool operator==(const Nesting&, const Nesting&) = default;
  };
  struct NestingHash {
    size_t operator()(const Nesting& nesting) const {
      return trace::hash_mix(nesting.thread.value, nesting.domain);
    }
  };
  using OpenRows = std::vector<size_t>;  // by depth

  OpenRows& open_rows(trace::ThreadId thread, wire::StringKey domain);
  struct Labels {
    wire::StringKey domain;
    wire::StringKey name;
  };
  void add_operator_row(const wire::CpuOperator& call, trace::ThreadId thread);
  size_t add_range(Nanoseconds start, Nanoseconds end, trace::ThreadId thread, Labels labels,
                   trace::RangeKind kind);
  void end_started_ranges();

  trace::TraceBuilder& builder_;
  Findings& findings_;
  size_t first_range_;
  size_t first_step_;
  size_t first_operator_;
  CollectiveOperators collectives_;
  std::unordered_map<Nesting, OpenRows, NestingHash> open_;
  std::unordered_map<trace::ThreadId, std::vector<const OpenRows*>> open_on_;  // one a domain
  Nesting last_nesting_{};
  OpenRows* last_open_ = nullptr;
  std::unordered_map<uint64_t, size_t> started_;  // rows, by range
  std::vector<wire::RangeEnd> ends_;
};

}  // namespace llmprof::readers::collector_log
