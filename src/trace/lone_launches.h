#pragma once

#include "trace/trace.h"

namespace llmprof::trace {

// Says how many launching calls put no work on a GPU in this capture: what they launched was not
// recorded. Work must have been joined to its launches, and kinds of calls decided. Launches into a
// CUDA graph that is being captured have none by nature, and where the capture does not show when
// that was, no launch of a program with graphs counts; a driver's call inside a runtime's is the
// same launch.
void report_lone_launches(Trace& trace);

}  // namespace llmprof::trace
