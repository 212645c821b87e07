#pragma once

#include <cstdint>

#include "collector/cuda/control/state_table.h"
#include "wire/cuda_records.h"

// Drives the state table: performs its actions on CUPTI, one thread at a time, and writes each
// change of state and its cost to the log.
namespace llmprof::collector {

using wire::TracingReason;
using wire::TracingState;

// `memory`: also records allocations of GPU memory.
void begin_tracing(bool every_call, bool memory);

[[nodiscard]] ControlState control_state();
// CUPTI is attached, tracing or not.
[[nodiscard]] bool is_recording();

// Returns whether the event was accepted. If an action failed, the log has the reason and the
// collector has stood down.
bool raise(ControlEvent event, TracingReason reason);

// Closes the window of a duty cycle with the matching event. True if graphs were replayed in it,
// which need one step to settle.
bool close_duty_window();

// Permanently, because another tool asks for CUPTI, which serves one tool at a time.
void stand_down();

// Steps started so far, for the records.
void note_step(uint64_t step);

// By how much state changes have delayed the program so far, ns.
[[nodiscard]] int64_t time_spent_on_changes();

// Makes both threads of the collector check for work at once.
void wake_collector();

// The following functions are for the collector's own threads.
// Collects the records that CUPTI has completed.
void hand_over_records();
// Whether counters may be sampled: CUPTI must not be finalized while another thread samples. A
// thread announces with note_sampling that it samples, and finalizing waits for it.
[[nodiscard]] bool may_sample();
void note_sampling(bool sampling);
// Draining or leaving: CUPTI is about to be detached, and still costs the program time.
[[nodiscard]] bool is_detaching();
// Raises work_complete and safe_point when they are due.
void finish_detaching();

// Called when the process ends by exit().
void end_tracing();

}  // namespace llmprof::collector
