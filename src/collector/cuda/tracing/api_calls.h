#pragma once

#include <cupti.h>

#include <cstdint>

// CUDA functions that the program calls, from CUPTI's callbacks: launches, copies and fills, and
// calls that wait. The callbacks run on the program's own threads: no lock, no allocation.
namespace llmprof::collector {

// Enables callbacks of the functions to record, or of all functions with `every_call`.
CUptiResult enable_api_callbacks(CUpti_SubscriberHandle subscriber, bool every_call);
// Only callbacks of kernel launches, the most frequent calls.
CUptiResult enable_launch_callbacks(CUpti_SubscriberHandle subscriber, bool enable);

// Called before calls are recorded again.
void begin_window();
void api_callback(CUpti_CallbackDomain domain, CUpti_CallbackId id, const CUpti_CallbackData& data);

// Counts a call that is not recorded.
void note_api_call(CUpti_CallbackDomain domain, CUpti_CallbackId id,
                   const CUpti_CallbackData& data);

[[nodiscard]] bool is_graph_launch(CUpti_CallbackDomain domain, CUpti_CallbackId id);
// Whether the call allocates GPU memory. It has a callback, but is recorded only if every call is.
[[nodiscard]] bool is_allocation(CUpti_CallbackDomain domain, CUpti_CallbackId id);
// The same for calls that map or release memory.
[[nodiscard]] bool is_of_memory(CUpti_CallbackDomain domain, CUpti_CallbackId id);

// Numbers (CallNumbers) of the latest launch and the latest call that were recorded or counted.
[[nodiscard]] uint64_t last_launch();
[[nodiscard]] uint64_t last_call();
[[nodiscard]] uint64_t call_number(uint32_t correlation);
// CUPTI's IDs restart after it was finalized; those in the log do not.
[[nodiscard]] uint32_t correlation_in_log(uint32_t correlation);
void calls_may_start_over();

// For programs that bypass the shared runtime, so that launches cannot be intercepted: launches and
// waits from CUPTI's driver callbacks alone. It records no kernels and starts no thread. It
// costs more than the launch interceptor (docs/tracing-cost.md), so it has runs of its own.
// Active for the rest of the process. Notes nothing without CUPTI, or if another tool uses CUPTI.
void time_driver_calls();

}  // namespace llmprof::collector
