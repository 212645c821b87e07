#pragma once

#include "readers/nsys_sqlite/tables.h"

namespace llmprof::readers {

// Allocations and releases of memory, and what happens to memory pools (nsys profile
// --cuda-memory-usage true); nothing without them. Pools of other processes are left out.
// Rows that cannot be right are skipped and counted.
void read_nsys_memory_events(const NsysSchema& schema, trace::TraceBuilder& builder,
                             NsysPlaces& places);

}  // namespace llmprof::readers
