#pragma once

#include <cupti.h>

#include <cstdint>

// CUDA functions that the program calls, from CUPTI's callbacks: launches, copies and fills, and
// calls that wait. The callbacks run on the program's own threads: no lock, no allocation.
namespace llmprof::collector {

// Enables callbacks of the functions to record; with `every_call`, of all.
CUptiResult enable_api_callbacks(CUpti_SubscriberHandle subscriber, bool every_call);
// Only those of kernel launches, which are the most frequent calls.
CUptiResult enable_launch_callbacks(CUpti_SubscriberHandle subscriber, bool enable);

// Before calls are recorded again.
void begin_window();
void api_callback(CUpti_CallbackDomain domain, CUpti_CallbackId id, const CUpti_CallbackData& data);

// A call that is not recorded, but counted.
void note_api_call(CUpti_CallbackDomain domain, CUpti_CallbackId id,
                   const CUpti_CallbackData& data);

[[nodiscard]] bool is_graph_launch(CUpti_CallbackDomain domain, CUpti_CallbackId id);
// Allocates GPU memory. It has a callback, but is recorded only if every call is.
[[nodiscard]] bool is_allocation(CUpti_CallbackDomain domain, CUpti_CallbackId id);

// Calls by their numbers (CallNumbers): the latest launch, and the latest call, that were recorded
// or noted.
[[nodiscard]] uint64_t last_launch();
[[nodiscard]] uint64_t last_call();
[[nodiscard]] uint64_t call_number(uint32_t correlation);
// CUPTI's IDs start over when it was finalized; those in the log do not.
[[nodiscard]] uint32_t correlation_in_log(uint32_t correlation);
void calls_may_start_over();

// The light watch for programs that reach the driver without passing the runtime's shared library:
// launches and waits from CUPTI's callbacks of the driver alone. No kernel is recorded, and no
// thread is started. It costs more than the preloaded functions do (docs/tracing-cost.md), so that
// it serves in runs of its own.
// For the rest of the process. Without CUPTI, or beside another tool that uses it, nothing is
// noted.
void watch_driver_calls();

}  // namespace llmprof::collector
