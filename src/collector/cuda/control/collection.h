#pragma once

#include <cstdint>

#include "collector/cuda/control/state_table.h"
#include "wire/cuda_records.h"

// Drives the state table: performs its actions on CUPTI, one thread at a time, and writes each
// change of state to the log with what it cost.
namespace llmprof::collector {

using wire::CollectionReason;
using wire::CollectionState;

void begin_collection(bool every_call);

[[nodiscard]] ControlState control_state();
// CUPTI is attached, tracing or not.
[[nodiscard]] bool is_recording();

// Whether the event was taken. If an action failed, the log has the reason and the collector has
// stood down.
bool raise(ControlEvent event, CollectionReason reason);

// Closes the window of a duty cycle, with the event that fits. True: graphs were replayed in it,
// and are to settle for a step.
bool close_duty_window();

// Permanently: another tool asks for CUPTI, which serves one tool at a time.
void stand_down();

// Steps begun so far, for the records.
void note_step(uint64_t step);

// How long changes of state have delayed the program so far, ns.
[[nodiscard]] int64_t time_spent_on_changes();

// For the collector's own threads.
// Hands over what CUPTI has.
void hand_over_records();
// Whether counters may be sampled: CUPTI must not be finalized while another thread samples. A
// thread that samples says so with note_sampling, and is waited for.
[[nodiscard]] bool may_sample();
void note_sampling(bool sampling);
// Draining or leaving: CUPTI is about to be detached, and still costs the program time.
[[nodiscard]] bool is_detaching();
// Raises work_complete and safe_point when they are due.
void finish_detaching();

// The process ends by exit().
void end_collection();

}  // namespace llmprof::collector
