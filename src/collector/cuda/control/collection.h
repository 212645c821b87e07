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

// Whether the event changed something; what failed on the way is in the log, and the collector has
// stood down.
bool raise(ControlEvent event, CollectionReason reason);

// Closes the window of a duty cycle, with the event that fits. True: graphs were replayed in it,
// and are to settle for a step.
bool close_duty_window();

// For good: another tool asks for CUPTI, which has room for one.
void stand_down();

// Steps begun so far, for the records.
void note_step(uint64_t step);

// How long changes of state held the program up so far, ns.
[[nodiscard]] int64_t time_spent_on_changes();

// For the collector's own threads.
// Hands over what CUPTI has.
void hand_over_records();
// Whether counters may be sampled: CUPTI must not be finalized while another thread is in its
// sampling. What is told with note_sampling is waited for.
[[nodiscard]] bool may_sample();
void note_sampling(bool sampling);
// While the program still pays for CUPTI, and is about to be rid of it.
[[nodiscard]] bool is_detaching();
// Raises work_complete and safe_point where they are due.
void finish_detaching();

// The process ends by exit().
void end_collection();

}  // namespace llmprof::collector
