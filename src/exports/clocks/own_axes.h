#pragma once

#include <optional>
#include <string>
#include <vector>

#include "exports/exports.h"

namespace llmprof::exports {

// From the first to the last time that an export shows, on the clock of the trace; none if nothing
// has a place in time.
struct TimeSpan {
  Nanoseconds first = INT64_MAX;
  Nanoseconds last = INT64_MIN;

  [[nodiscard]] bool any() const { return first <= last; }
  void add(Nanoseconds start, Nanoseconds end);
};
// Captures that are shown on one axis, and their span on their own clock.
struct ClockSpan : TimeSpan {
  std::string label;  // their files
};

TimeSpan recorded_span(const trace::Trace& trace, const analysis::Stages& stages);

// A trace and its analysis, with times relative to the start of each group of captures. Rows keep
// the order of the original trace: only rows of one capture are ordered by time.
struct OwnAxes {
  trace::Trace trace;
  analysis::Results results;
  std::vector<ClockSpan> clocks;
};

// Captures of unrelated clocks would lie days apart on one axis, with nothing between them. None if
// one axis is enough, as for ranks of a job. Captures share an axis if they may read the same clock
// and their times overlap or follow within ten minutes.
std::optional<OwnAxes> on_own_axes(const ExportSources& sources);

}  // namespace llmprof::exports
