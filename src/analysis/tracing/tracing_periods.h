#pragma once

#include <vector>

#include "trace/trace.h"

namespace llmprof::analysis {

// When our collector recorded no launches, by process, on the clock of the
// calls. A process that it never traced has no such periods: its work comes
// from another tool, or there is none.
class TracingPeriods {
 public:
  struct Period {
    Nanoseconds start = 0;  // INT64_MIN: from the beginning
    Nanoseconds end = 0;    // INT64_MAX: to the end
  };

  explicit TracingPeriods(const trace::Trace& trace);

  [[nodiscard]] bool any_untraced() const { return any_; }
  // In order of time; empty where all was traced.
  [[nodiscard]] const std::vector<Period>& untraced(trace::ProcessId process) const {
    return by_process_[process.index()];
  }
  [[nodiscard]] bool traced_at(trace::ProcessId process, Nanoseconds time) const;

 private:
  std::vector<std::vector<Period>> by_process_;
  bool any_ = false;
};

}  // namespace llmprof::analysis
