#pragma once

#include <cupti.h>

#include <cstddef>
#include <cstdint>

#include "collector/cuda/tracing/call_numbers.h"

// Writes kernels, memory operations and graph replays from CUPTI's records to the log.
namespace llmprof::collector {

// Work launched outside these windows is not recorded.
TracedWindows& traced_windows();

struct KernelCounts {
  uint64_t launched = 0;   // one by one
  uint64_t in_graphs = 0;  // replayed
};
[[nodiscard]] KernelCounts kernels_seen();
// The number (call_number) of the latest call whose kernel was recorded.
[[nodiscard]] uint64_t last_finished();

// The memory that CUPTI fills with activity records: a fixed number of buffers, mapped when first
// needed. If all are in use CUPTI gets none, drops records and counts them.
void CUPTIAPI give_buffer(uint8_t** buffer, size_t* size, size_t* most_records);
void CUPTIAPI take_buffer(CUcontext context, uint32_t stream, uint8_t* buffer, size_t size,
                          size_t filled);

}  // namespace llmprof::collector
