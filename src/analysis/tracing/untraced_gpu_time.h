#pragma once

#include <map>
#include <utility>
#include <vector>

#include "trace/trace.h"

namespace llmprof::analysis {

// When a GPU may have done work of a process that our collector did not record. It is not idle
// then: nobody knows.
//
// Launches of an untraced period are missing, and their work may have run later than the period,
// since the CPU runs ahead. So the time begins where the period does, or where the last work that
// was launched before it ends; and it ends with the first work that was launched after it.
class UntracedGpuTime {
 public:
  struct Window {
    Nanoseconds start = 0;
    Nanoseconds end = 0;  // INT64_MAX: nothing was recorded any more
  };

  UntracedGpuTime() = default;
  explicit UntracedGpuTime(const trace::Trace& trace);

  [[nodiscard]] bool any() const { return !windows_.empty(); }
  // In order of time, apart from each other.
  [[nodiscard]] const std::vector<Window>& of(trace::ProcessId process,
                                              trace::DeviceId device) const;
  // The parts of these windows within [from, to).
  [[nodiscard]] std::vector<Window> within(trace::ProcessId process, trace::DeviceId device,
                                           Nanoseconds from, Nanoseconds to) const;

 private:
  std::map<std::pair<trace::ProcessId, trace::DeviceId>, std::vector<Window>> windows_;
  Nanoseconds first_ = INT64_MAX;  // start of any window
};

}  // namespace llmprof::analysis
