#pragma once

#include "exports/perfetto/trace_file.h"
#include "trace/memory_events.h"

namespace llmprof::exports {

// The time of the first reading that is written; INT64_MAX without one.
Nanoseconds first_memory_reading(const trace::MemoryReadingTable& readings);

// What is used or reserved of a GPU's memory, as in the memory ledger; no track without readings.
void write_memory_track(const trace::MemoryReadingTable& readings, trace::DeviceId device,
                        TrackUuid parent, TraceFile& file);

}  // namespace llmprof::exports
