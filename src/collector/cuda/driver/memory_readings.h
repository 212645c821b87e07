#pragma once

#include <cstdint>

// GPU memory as NVML reads it, as memory_reading records: before the program uses a device, after
// its allocations changed, and at the end.
namespace llmprof::collector {

// On the collector's own thread, while the program waits in cuInit: NVML takes tens of
// milliseconds. The log has the reason if there is no NVML.
void read_memory_before_context();
// On the program's thread, until that reading is done; at most 0.3 s.
void wait_for_memory_reading();

// On the collector's own thread, once cuInit has returned. Reads when the program's memory has
// settled after its last change, and once per second.
void read_memory_if_due(int64_t last_change);
// When the process exits, after that thread has ended.
void read_memory_at_end();

}  // namespace llmprof::collector
