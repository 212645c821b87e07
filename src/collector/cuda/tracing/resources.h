#pragma once

#include <cupti.h>

#include <atomic>
#include <cstdint>

#include "collector/clock.h"

// CUPTI's callbacks for contexts and graphs as the program creates them.
namespace llmprof::collector {

// When the program last allocated GPU memory.
inline constinit std::atomic<int64_t> latest_allocation = 0;

inline void note_allocation() { latest_allocation.store(now_ns(), std::memory_order_relaxed); }
// 0: never.
[[nodiscard]] inline int64_t last_allocation() {
  return latest_allocation.load(std::memory_order_relaxed);
}

CUptiResult enable_resource_callbacks(CUpti_SubscriberHandle subscriber);

// `data` may be null: CUPTI 13 passes none with its callback of cuInit.
void resource_callback(CUpti_CallbackId id, const CUpti_ResourceData* data);

// Whether cuInit has returned: until then no other thread may call the driver or CUPTI.
[[nodiscard]] bool cuda_is_ready();
// If CUPTI is attached to a program that has already initialized CUDA.
void note_cuda_is_ready();

}  // namespace llmprof::collector
