#pragma once

#include <cstddef>
#include <cstdint>

// Kernels, memory operations and graph replays from CUPTI's records into the log.
namespace llmprof::collector {

void record_gpu_work(uint8_t* records, size_t bytes);

// What was launched later than this correlation is not recorded.
inline constexpr uint32_t kAllKernels = UINT32_MAX;
void record_kernels_up_to(uint32_t correlation);

struct KernelCounts {
  uint64_t launched = 0;   // one by one
  uint64_t in_graphs = 0;  // replayed
};
[[nodiscard]] KernelCounts kernels_seen();
// The highest correlation of a kernel that was seen.
[[nodiscard]] uint32_t last_finished();

}  // namespace llmprof::collector
