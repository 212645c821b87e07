#pragma once

#include "trace/trace.h"

namespace llmprof::trace {

// Orders kernels, memory operations and graph replays by start; rows that start together keep their
// order. Captures do not guarantee a row order. Counters are ordered by device, metric and start,
// collection changes by process and time. Fills optional columns that not all captures have.
void order_by_start(Trace& trace);

}  // namespace llmprof::trace
