#pragma once

#include <cstddef>
#include <cstdint>

// Kernels, memory operations and graph replays from CUPTI's records into the log.
namespace llmprof::collector {

void record_gpu_work(uint8_t* records, size_t bytes);

[[nodiscard]] uint64_t kernels_seen();
// The highest correlation of a kernel that was recorded.
[[nodiscard]] uint32_t last_finished();

}  // namespace llmprof::collector
