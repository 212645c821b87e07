#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "readers/collector_log/operator_kernels.h"
#include "readers/collector_log/records.h"

namespace llmprof::readers::collector_log {

// What a program annotated: ranges, marks, steps, CPU operators and collectives, each by the
// thread that recorded it, and names of its threads.
class AnnotationRows {
 public:
  AnnotationRows(trace::TraceBuilder& builder, trace::ProcessId process, Findings& findings);

  void add(const wire::RangePush& push, trace::ThreadId thread);
  void add(const wire::RangePop& pop, trace::ThreadId thread);
  void add(const wire::RangeStart& start, trace::ThreadId thread);
  void add(const wire::RangeEnd& end) { ends_.push_back(end); }
  void add(const wire::Mark& mark, trace::ThreadId thread);
  void add(const wire::Step& step, trace::ThreadId thread);
  void add(const wire::CpuOperator& call, trace::ThreadId thread);
  // Also an operator.
  void add(const wire::Collective& call, trace::ThreadId thread);
  // By a thread, which may name itself or another.
  void add(const wire::ThreadName& name, trace::ThreadId by) { names_.emplace_back(by, name); }

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
  void end_started_ranges();
  void name_threads(const Texts& texts);

  trace::TraceBuilder& builder_;
  trace::ProcessId process_;
  Findings& findings_;
  trace::RangeTable& ranges_;
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
  std::vector<std::pair<trace::ThreadId, wire::ThreadName>> names_;  // and who gave them
};

}  // namespace llmprof::readers::collector_log
