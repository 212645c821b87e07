#pragma once

#include <optional>
#include <string>
#include <vector>

#include "exports/exports.h"

namespace llmprof::exports {

// Captures that are shown on one axis, and what they span on their own clock.
struct ClockSpan {
  std::string label;  // their files
  Nanoseconds first = 0;
  Nanoseconds last = 0;
};

// From the first to the last time that an export shows, on the clock of the trace; none where
// nothing has a place in time.
struct TimeSpan {
  Nanoseconds first = INT64_MAX;
  Nanoseconds last = INT64_MIN;

  [[nodiscard]] bool any() const { return first <= last; }
  void add(Nanoseconds start, Nanoseconds end);
};
TimeSpan recorded_span(const trace::Trace& trace, const analysis::Stages& stages);

// A trace and what was found in it, with the times of each group of captures since the group's own
// beginning. The order of rows is that of the trace it was made of: only rows of one capture are in
// order of time.
struct OwnAxes {
  trace::Trace trace;
  analysis::Results results;
  std::vector<ClockSpan> clocks;
};

// Captures of unrelated clocks would lie days apart on one axis, with nothing between them. None
// where one axis serves all, as it does ranks of a job. Captures share one where they may read the
// same clock, and their times overlap or follow within ten minutes.
std::optional<OwnAxes> on_own_axes(const ExportSources& sources);

}  // namespace llmprof::exports
