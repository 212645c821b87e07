#pragma once

#include <cupti.h>

#include <atomic>
#include <cstdint>

#include "collector/environment.h"

// CUPTI's callbacks for contexts and graphs as the program creates them, and replays of graphs.
namespace llmprof::collector {

// When the program last allocated GPU memory.
inline constinit std::atomic<int64_t> latest_allocation = 0;

inline void note_allocation() { latest_allocation.store(now_ns(), std::memory_order_relaxed); }
// 0: never.
[[nodiscard]] inline int64_t last_allocation() {
  return latest_allocation.load(std::memory_order_relaxed);
}

CUptiResult enable_resource_callbacks(CUpti_SubscriberHandle subscriber);

// `data` may be null: CUPTI 13 passes none with its cuInit callback.
void resource_callback(CUpti_CallbackId id, const CUpti_ResourceData* data);

// Whether cuInit has returned: until then no other thread may call the driver or CUPTI.
[[nodiscard]] bool cuda_is_ready();
// For programs that had initialized CUDA before CUPTI was attached.
void note_cuda_is_ready();

// CUPTI stores the times of a graph's kernels once per graph: an untraced replay overwrites the
// times of the last traced one if CUPTI has not read them yet (CUPTI 13.0: end times of later
// replays). The log names such replays, and their kernels are excluded.
// Whether any graph was replayed while tracing.
[[nodiscard]] bool graphs_were_traced();

void note_traced_replay(const CUpti_CallbackData& launch);
// CUPTI records it, but it is not kept: the times of earlier replays are safe.
void note_replay_between(const CUpti_CallbackData& launch);
void note_untraced_replay(const CUpti_CallbackData& launch);

}  // namespace llmprof::collector
