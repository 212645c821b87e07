#pragma once

#include <cupti.h>

#include <cstdint>

// CUDA graphs: their nodes, and their replays.
namespace llmprof::collector {

// Nodes of CUDA graphs as they are created: among the records of the creating thread, so that the
// ranges open there apply to them. This gives replayed kernels their layer.
void graph_node_created(const CUpti_GraphData& graph);
void graph_node_cloned(const CUpti_GraphData& graph);

// CUPTI stores the times of a graph's kernels once per graph: a replay without tracing overwrites
// those of the last replay with tracing if CUPTI has not read them yet (CUPTI 13.0: end times of
// later replays). Such replays are named in the log, and their kernels are excluded.
// Whether any graph was replayed while tracing.
[[nodiscard]] bool graphs_were_traced();

void note_traced_replay(const CUpti_CallbackData& launch);
// CUPTI records it, but it is not kept: the times of earlier replays are safe.
void note_replay_between(const CUpti_CallbackData& launch);
void note_untraced_replay(const CUpti_CallbackData& launch);

}  // namespace llmprof::collector
