#pragma once

#include <cstdint>

#include "wire/cuda_records.h"

// CUPTI, attached or not, tracing or not. Changes are made by one thread at a time; each is a
// record in the log with what it cost.
namespace llmprof::collector {

using wire::CollectionReason;
using wire::CollectionState;

void begin_collection(bool every_call);

[[nodiscard]] CollectionState collection_state();
// Attached, tracing or not.
[[nodiscard]] bool is_recording();

// From any state but stood_down. False: stood down, and why is in the log.
bool start_tracing(CollectionReason reason);
// Attached, with the graphs' nodes noted, but nothing of what is launched from now on is recorded.
// True: CUPTI goes on for a while, for the sake of what was launched before, until rest_tracing
// switches it off: where graphs were replayed, after each was replayed once more.
bool pause_tracing(CollectionReason reason);
void rest_tracing();
// Kernels that were launched while tracing are waited for, by the collector's thread: see
// finish_detaching.
void stop_tracing(CollectionReason reason);
// For good: another tool asks for CUPTI, which has room for one.
void stand_down(CollectionReason reason, uint32_t result);

// Steps begun so far, for the records.
void note_step(uint64_t step);

// How long changes of state held the program up so far, ns.
[[nodiscard]] int64_t time_spent_on_changes();

// For the collector's own threads.
// Hands over what CUPTI has.
void hand_over_records();
// Whether counters may be sampled: CUPTI must not be finalised while another thread is in its
// sampling. What is told with note_sampling is waited for.
[[nodiscard]] bool may_sample();
void note_sampling(bool sampling);
// Between stop_tracing and the detach, while the program still pays for CUPTI.
[[nodiscard]] bool is_detaching();
// Detaches where that is due.
void finish_detaching();

// The process ends by exit().
void end_collection();

}  // namespace llmprof::collector
