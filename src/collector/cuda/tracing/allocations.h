#pragma once

#include <atomic>
#include <cstdint>

#include "collector/clock.h"

// When the program last allocated GPU memory.
namespace llmprof::collector {

inline constinit std::atomic<int64_t> latest_allocation = 0;

inline void note_allocation() { latest_allocation.store(now_ns(), std::memory_order_relaxed); }
// 0: never.
[[nodiscard]] inline int64_t last_allocation() {
  return latest_allocation.load(std::memory_order_relaxed);
}

}  // namespace llmprof::collector
