#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "trace/trace.h"

namespace llmprof::analysis {

// What is known of one collective beside its kernel; each part may be missing.
struct CollectiveFacts {
  trace::CollectiveKind kind = trace::CollectiveKind::other;
  uint64_t bytes = 0;
  trace::StringId group;
  trace::StringId members;
  uint32_t group_size = 0;
  uint64_t sequence = trace::kNoSequence;
};

// Finds what rows of CollectiveTable say of a kernel: the row that names it, the row of its
// operator, and those that were open on the launching thread when it was launched, innermost first.
// The first that states something is believed.
class CollectiveRows {
 public:
  explicit CollectiveRows(const trace::Trace& trace);

  // Whether a row names this very kernel: communication by whatever name.
  [[nodiscard]] bool name(size_t kernel) const { return row_of(kernel).valid(); }
  [[nodiscard]] CollectiveFacts of(size_t kernel) const;

 private:
  using Row = trace::Id<struct CollectiveRowKind>;

  [[nodiscard]] Row row_of(size_t kernel) const;
  [[nodiscard]] Row row_of_operator(size_t kernel) const;
  // The innermost row that was open on `thread` at `time`; its `outer_` are the others.
  [[nodiscard]] Row open_at(trace::ThreadId thread, Nanoseconds time) const;
  [[nodiscard]] bool is_of_process(Row row, size_t kernel) const;
  [[nodiscard]] bool holds(Row row, Nanoseconds time) const;
  void add(Row row, CollectiveFacts& facts) const;

  const trace::Trace& trace_;
  std::unordered_multimap<uint32_t, Row> by_correlation_;
  std::unordered_multimap<uint64_t, Row> by_operator_;
  std::vector<Row> by_thread_;  // spans on the host, by thread and start, outer ones first
  std::vector<Row> outer_;      // by row: the one that it is inside of
};

}  // namespace llmprof::analysis
