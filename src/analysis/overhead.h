#pragma once

#include <string>
#include <vector>

namespace llmprof::analysis {

// What being profiled cost a run's workload: its own times in one pass beside those of the control
// run, which nothing profiled.
struct OverheadRow {
  std::string pass;   // "nsys"
  std::string stage;  // "prefill"
  double control_ms = 0;
  double profiled_ms = 0;
  bool whole_run = false;  // no stage was timed in both: the commands' durations, start-up included

  // Of the control's time: 1.25 is a quarter longer.
  [[nodiscard]] double ratio() const { return profiled_ms / control_ms; }
};

// Above it a pass says little of the program's own speed.
inline constexpr double kMuchOverhead = 0.25;

// A capture that was asked for and did not come, with the remedy.
struct CaptureFailure {
  std::string backend;  // "nsys"
  std::string message;
};

}  // namespace llmprof::analysis
