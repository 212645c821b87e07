#pragma once

#include "base/diagnostics.h"
#include "trace/trace.h"

namespace llmprof::analysis {

// One ncu run exported as several pages (raw and details) describes the same launches again and
// again: they are kept once, with the most exact durations and the metrics of all pages. Pages are
// of one run where they have the same launches in the same order, and durations that differ by no
// more than the details page rounds.
void merge_profiled_twice(trace::Trace& trace, Diagnostics& diagnostics);

}  // namespace llmprof::analysis
