#pragma once

#include <optional>

#include "analysis/stages/stages.h"
#include "profile/reasons.h"

namespace llmprof::analysis {

inline constexpr double kIntervalConfidence = 0.95;

// What tracing cost a decode step, measured by the run itself: windows of traced steps beside
// windows of untraced ones. Nothing else in a profile is corrected by it.
//
// A traced window's time per step is that from its first GPU work's start to its last one's end,
// and an untraced window's that from the traced window before to the one after it. Between two
// steps the GPU waits; n steps have n - 1 such waits inside their window, so the mean wait inside
// traced windows (`gap`) is added to each traced window and taken from each untraced one. After a
// window that replayed CUDA graphs CUPTI goes on for one more step, of which nothing is recorded:
// that step costs what a traced one does, and is taken from the untraced window at a traced step's
// mean.
struct CollectorOverhead {
  struct Windows {
    uint64_t windows = 0;
    uint64_t steps = 0;    // in them
    double mean = 0;       // ns per step, mean of the windows
    double deviation = 0;  // of the windows, n - 1
  };
  Windows traced;    // with untraced steps of the same decode on both sides
  Windows untraced;  // likewise between traced ones
  double gap = 0;    // ns between steps, 0 where each traced window is one step
  // ns per step that tracing adds, with Welch's 95 % interval; none with `why_not`.
  struct Interval {
    double mean = 0;
    double low = 0;
    double high = 0;
  };
  std::optional<Interval> added;
  std::optional<double> share_of_step;  // added over an untraced step
  // added x (traced steps and those with CUPTI still on), over all steps at the untraced pace.
  std::optional<double> share_of_decode;
  profile::Reasons why_not;

  uint64_t steps_traced = 0;    // of the process, by the collector's own count
  uint64_t steps_cupti_on = 0;  // untraced, right after windows that replayed graphs
  uint64_t steps_all = 0;
  // T of every P steps: the most frequent windows; 0 where there is none.
  uint64_t duty_traced = 0;
  uint64_t duty_period = 0;
  uint64_t switches = 0;        // of tracing, on and off
  Nanoseconds switch_cost = 0;  // how long they held up the program together
};

// None where no process has a duty cycle, or several have.
std::optional<CollectorOverhead> collector_overhead(const trace::Trace& trace,
                                                    const Stages& stages);

}  // namespace llmprof::analysis
