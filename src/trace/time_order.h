#pragma once

#include "trace/trace.h"

namespace llmprof::trace {

// Orders kernels, memory operations and graph replays by start; rows that start together keep their
// order. Captures promise no row order. Counters are ordered by device, metric and start, changes
// of collection by process and time. Fills up optional columns that not all captures know.
void order_by_start(Trace& trace);

}  // namespace llmprof::trace
