#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "trace/trace.h"

namespace llmprof::analysis {

// A process's rows of the changes of tracing, in order of time.
std::vector<size_t> tracing_change_rows(const trace::TracingTable& table, trace::ProcessId process);

// When our collector recorded no launches, by process, on the clock of the calls. A process that it
// never traced has no such periods: its work comes from another tool, or there is none.
class TracingPeriods {
 public:
  struct Period {
    Nanoseconds start = 0;  // INT64_MIN: from the start
    Nanoseconds end = 0;    // INT64_MAX: to the end
  };

  explicit TracingPeriods(const trace::Trace& trace);

  [[nodiscard]] bool any_untraced() const { return any_; }
  // In order of time; empty if everything was traced.
  [[nodiscard]] const std::vector<Period>& untraced(trace::ProcessId process) const {
    return by_process_[process.index()];
  }
  [[nodiscard]] bool traced_at(trace::ProcessId process, Nanoseconds time) const;

 private:
  std::vector<std::vector<Period>> by_process_;
  bool any_ = false;
};

// A GPU as one process uses it.
using GpuOfProcess = std::pair<trace::ProcessId, trace::DeviceId>;

// Until when each GPU worked on launches from before recording. The capture does not show this
// work, only that a stream's first recorded work waited for it: it started long after its launch,
// while nothing recorded ran. GPUs without such a wait are not in the map.
std::map<GpuOfProcess, Nanoseconds> unrecorded_beginnings(const trace::Trace& trace);

// When a GPU may have done unrecorded work of a process. This time is unknown, not idle.
//
// Launches of an untraced period are missing, and their work may have run after the period, since
// the CPU runs ahead. So the time starts where the period does, or where the last work launched
// before it ends; and it ends with the first work launched after it.
//
// Captures of any tool also lack work that was launched before recording.
class UntracedGpuTime {
 public:
  struct Window {
    Nanoseconds start = 0;
    Nanoseconds end = 0;  // INT64_MAX: nothing was recorded afterwards
  };

  UntracedGpuTime() = default;
  explicit UntracedGpuTime(const trace::Trace& trace);

  [[nodiscard]] bool any() const { return !windows_.empty(); }
  // When the GPU finished work launched before recording; none: no sign of any.
  [[nodiscard]] std::optional<Nanoseconds> beginning(trace::ProcessId process,
                                                     trace::DeviceId device) const;
  // In order of time, not overlapping.
  [[nodiscard]] const std::vector<Window>& of(trace::ProcessId process,
                                              trace::DeviceId device) const;
  // The parts of these windows within [from, to).
  [[nodiscard]] std::vector<Window> within(trace::ProcessId process, trace::DeviceId device,
                                           Nanoseconds from, Nanoseconds to) const;

 private:
  static constexpr Nanoseconds kBeginning = INT64_MIN;

  void add_periods(const trace::Trace& trace, const TracingPeriods& periods);

  std::map<GpuOfProcess, std::vector<Window>> windows_;
  Nanoseconds first_ = INT64_MAX;  // earliest start of any window
};

}  // namespace llmprof::analysis
