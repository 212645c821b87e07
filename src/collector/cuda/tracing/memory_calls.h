#pragma once

#include <cupti.h>

#include <cstdint>

#include "wire/cuda_records.h"

// GPU memory as the program allocates and releases it: from CUPTI's records, and from callbacks of
// the driver's functions for virtual memory, whose records name the wrong library (CUPTI 13.0).
namespace llmprof::collector {

// After CUPTI was attached; the log has the reason if this CUPTI cannot. Allocations are recorded
// as long as CUPTI is attached, whether or not kernels are.
void enable_memory_records();
// Before CUPTI is left without being finalized.
void disable_memory_records();
// CUPTI is no longer attached.
void note_memory_records_ended();

[[nodiscard]] wire::MemoryEvent event_of(const CUpti_ActivityMemory4& activity);
[[nodiscard]] wire::MemoryEvent event_of(const CUpti_ActivityMemoryPool3& activity);

// Whether the function, by its name without "cu", manages virtual memory.
[[nodiscard]] bool maps_memory(const char* bare);
// Notes what the driver's function number `id` does.
void note_memory_function(CUpti_CallbackId id, const char* bare);
// Called for functions that take or map memory, on the program's thread.
void memory_callback(CUpti_CallbackId id, const CUpti_CallbackData& data, uint32_t correlation);

// Something else for which the driver takes memory.
void note_driver_memory(wire::MemoryAction action, CUcontext context, uint64_t bytes);

// An allocation or release, or something else that changes how much memory is in use.
void note_memory_change();
// When one was noted last, ns; 0: never.
[[nodiscard]] int64_t last_memory_change();

}  // namespace llmprof::collector
