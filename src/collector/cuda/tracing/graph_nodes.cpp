#include "collector/cuda/tracing/graph_nodes.h"

#include "collector/cuda/cupti/cupti_functions.h"
#include "collector/recorder.h"
#include "wire/cuda_records.h"

namespace llmprof::collector {
namespace {

uint64_t id_of(CUgraphNode node) {
  uint64_t id = 0;
  if (node != nullptr) cupti().graph_node_id(node, &id);
  return id;
}

}  // namespace

void graph_node_created(const CUpti_GraphData& graph) {
  const Call call;
  if (!call || !recording()) return;
  record(call.thread(), wire::RecordType::graph_node_created,
         wire::GraphNodeCreated{id_of(graph.node)});
}

void graph_node_cloned(const CUpti_GraphData& graph) {
  const Call call;
  if (!call || !recording()) return;
  record(call.thread(), wire::RecordType::graph_node_cloned,
         wire::GraphNodeCloned{id_of(graph.node), id_of(graph.originalNode)});
}

}  // namespace llmprof::collector
