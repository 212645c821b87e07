#pragma once

#include <cupti.h>

#include <cstdint>

// CUPTI keeps the times of a graph's kernels in one place a graph: a replay without tracing writes
// over those of the last replay with it, if CUPTI has not read them by then (CUPTI 13.0: seen as
// ends that are those of later replays). Such replays are named in the log, and their kernels left
// out.
namespace llmprof::collector {

// Whether any graph was replayed while tracing.
[[nodiscard]] bool graphs_were_traced();

void note_traced_replay(const CUpti_CallbackData& launch);
// With tracing on, but not for the log: the earlier ones are safe.
void note_replay_between(const CUpti_CallbackData& launch);
void note_untraced_replay(const CUpti_CallbackData& launch);

}  // namespace llmprof::collector
