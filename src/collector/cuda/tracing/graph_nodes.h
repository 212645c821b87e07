#pragma once

#include <cupti.h>

// Nodes of CUDA graphs as they are created: among the records of the creating thread, so that the
// ranges open there apply to them. This gives replayed kernels their layer.
namespace llmprof::collector {

void graph_node_created(const CUpti_GraphData& graph);
void graph_node_cloned(const CUpti_GraphData& graph);

}  // namespace llmprof::collector
