#pragma once

#include <cstddef>
#include <cstdint>

#include "collector/cuda/tracing/traced_windows.h"

// Kernels, memory operations and graph replays from CUPTI's records into the log.
namespace llmprof::collector {

void record_gpu_work(uint8_t* records, size_t bytes);

// Work that was launched outside of these is not recorded.
TracedWindows& traced_windows();

struct KernelCounts {
  uint64_t launched = 0;   // one by one
  uint64_t in_graphs = 0;  // replayed
};
[[nodiscard]] KernelCounts kernels_seen();
// The number (call_number) of the latest call whose kernel was recorded.
[[nodiscard]] uint64_t last_finished();

}  // namespace llmprof::collector
