#pragma once

#include <cupti.h>

// Nodes of CUDA graphs as they are made: among the records of the thread that makes them, so that
// the ranges open there are theirs. What a graph replays later knows its layer so.
namespace llmprof::collector {

void graph_node_created(const CUpti_GraphData& graph);
void graph_node_cloned(const CUpti_GraphData& graph);

}  // namespace llmprof::collector
