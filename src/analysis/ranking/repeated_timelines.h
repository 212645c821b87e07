#pragma once

#include "base/diagnostics.h"
#include "trace/trace.h"

namespace llmprof::analysis {

// Takes a timeline out of the trace where another capture has the same kernels with the same
// durations (an nsys export and the trace report made of it): their time would be added up twice.
// The one that knows more of the CPU stays. Says which files these are.
void drop_repeated_timelines(trace::Trace& trace, Diagnostics& diagnostics);

}  // namespace llmprof::analysis
