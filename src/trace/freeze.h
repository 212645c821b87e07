#pragma once

#include "trace/trace.h"

namespace llmprof::trace {

// Finds the CPU call that launched each kernel, memory operation and graph replay. Correlation ids
// are unique only within a process, so both must agree, and wrap around after 2^32 calls, so that
// of several calls the last one before the work counts. GPU work without a launch is counted in a
// diagnostic if the capture has launches at all.
void join_launches(Trace& trace);

// Says how many launching calls put no work on a GPU in this capture: what they launched was not
// recorded. Work must have been joined to its launches, and kinds of calls decided. Launches into a
// CUDA graph that is being captured have none by nature, and where the capture does not show when
// that was, no launch of a program with graphs counts; a driver's call inside a runtime's is the
// same launch.
void report_lone_launches(Trace& trace);

// Orders kernels, memory operations and graph replays by start; rows that start together keep their
// order. Captures do not guarantee a row order. Counters are ordered by device, metric and start,
// collection changes by process and time. Fills optional columns that not all captures have.
void order_by_start(Trace& trace);

}  // namespace llmprof::trace
