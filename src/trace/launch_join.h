#pragma once

#include "trace/trace.h"

namespace llmprof::trace {

// Finds the CPU call that launched each kernel, memory operation and graph replay. Correlation ids
// are unique only within a process, so both must agree, and wrap around after 2^32 calls, so that
// of several calls the last one before the work counts. GPU work without a launch is counted in a
// diagnostic if the capture has launches at all.
void join_launches(Trace& trace);

}  // namespace llmprof::trace
