#pragma once

#include "trace/trace.h"

namespace llmprof::trace {

// Finds the CPU call that launched each kernel, memory operation and graph replay. Correlation ids
// are unique only within a process, so both must match. They wrap around after 2^32 calls, so the
// last matching call before the work counts. GPU work without a launch is counted in a diagnostic
// if the capture has any launches.
void join_launches(Trace& trace);

// Reports how many launching calls put no work on a GPU in this capture: their work was not
// recorded. Work must have been joined to its launches, and kinds of calls decided. Launches during
// a graph capture have no work by nature. If the recording does not show graph captures, kernel
// launches without work do not count in a program that uses graphs. A driver call inside a runtime
// call is the same launch.
void report_lone_launches(Trace& trace);

// Orders kernels, memory operations and graph replays by start; rows with the same start keep their
// order. Captures do not guarantee a row order. Counters are ordered by device, metric and start,
// changes of tracing by process and time. Fills optional columns that not all captures have.
void order_by_start(Trace& trace);

}  // namespace llmprof::trace
