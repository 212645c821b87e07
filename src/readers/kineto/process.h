#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "trace/trace.h"

namespace llmprof::readers {

// Finds whose GPU work it is: the events name the device, not the process. Mostly one process has
// API calls and owns everything; in a trace merged from several, the correlation id decides.
class KinetoProcesses {
 public:
  // Looks at the API calls, else the operators, from these rows on.
  KinetoProcesses(const trace::Trace& trace, size_t first_launch, size_t first_operator);

  // None where the trace has no CPU side at all.
  [[nodiscard]] trace::ProcessId owner() const { return owner_; }
  [[nodiscard]] bool several() const { return several_; }

  // Counts what more than one process may have launched; it goes to the owner of most calls.
  trace::ProcessId owner_of(uint32_t correlation);
  [[nodiscard]] uint64_t ambiguous() const { return ambiguous_; }

 private:
  trace::ProcessId owner_;
  bool several_ = false;
  uint64_t ambiguous_ = 0;
  std::unordered_map<uint32_t, trace::ProcessId> by_correlation_;  // none: of several
};

}  // namespace llmprof::readers
