#include "collector/cuda/tracing/resources.h"

#include <atomic>
#include <cstddef>

#include "collector/cuda/cupti/cupti_library.h"
#include "collector/cuda/tracing/api_calls.h"
#include "collector/cuda/tracing/memory_calls.h"
#include "collector/recorder.h"
#include "wire/cuda_records.h"

namespace llmprof::collector {
namespace {

uint64_t id_of(CUgraphNode node) {
  uint64_t id = 0;
  if (node != nullptr) cupti().graph_node_id(node, &id);
  return id;
}

// Nodes of CUDA graphs as they are created, among the records of the creating thread: the ranges
// open there apply to them, which gives replayed kernels their layer.
void record_graph_node(const CUpti_GraphData& graph, bool cloned) {
  const Call call;
  if (!call || !recording()) return;
  if (cloned) {
    record(call.thread(), wire::RecordType::graph_node_cloned,
           wire::GraphNodeCloned{id_of(graph.node), id_of(graph.originalNode)});
  } else {
    record(call.thread(), wire::RecordType::graph_node_created,
           wire::GraphNodeCreated{id_of(graph.node)});
  }
}

constexpr size_t kPlaces = 4096;
constexpr size_t kLongestGraphProbe = 64;

struct GraphReplay {
  std::atomic<const void*> graph{nullptr};
  std::atomic<uint32_t> correlation{0};  // of its last traced replay; 0: nothing to lose
};
constinit GraphReplay replayed[kPlaces];
constinit std::atomic<bool> any = false;

// The graph is the first parameter of the driver's function.
const void* graph_of(const CUpti_CallbackData& launch) {
  if (launch.functionParams == nullptr) return nullptr;
  return *static_cast<const void* const*>(launch.functionParams);
}

// Its slot, assigned if it has none; null if all nearby slots belong to others.
GraphReplay* place_of(const void* graph) {
  constexpr unsigned kAlignment = 6;
  const size_t first = reinterpret_cast<uintptr_t>(graph) >> kAlignment;
  for (size_t probe = 0; probe < kLongestGraphProbe; ++probe) {
    GraphReplay& place = replayed[(first + probe) % kPlaces];
    const void* known = nullptr;
    if (place.graph.compare_exchange_strong(known, graph, std::memory_order_relaxed) ||
        known == graph) {
      return &place;
    }
  }
  return nullptr;
}

void note(const CUpti_CallbackData& launch, uint32_t correlation) {
  const void* graph = graph_of(launch);
  GraphReplay* place = graph == nullptr ? nullptr : place_of(graph);
  if (place != nullptr) place->correlation.store(correlation, std::memory_order_relaxed);
}

constinit std::atomic<bool> ready = false;

constexpr CUpti_CallbackId kWanted[] = {
    CUPTI_CBID_RESOURCE_CONTEXT_CREATED, CUPTI_CBID_RESOURCE_MODULE_LOADED,
    CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED,
    CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED};

void note_module(const CUpti_ResourceData& loaded) {
  const auto* code = static_cast<const CUpti_ModuleResourceData*>(loaded.resourceDescriptor);
  note_driver_memory(wire::MemoryAction::module_loaded, loaded.context,
                     code == nullptr ? 0 : code->cubinSize);
}

}  // namespace

bool graphs_were_traced() { return any.load(std::memory_order_relaxed); }

void note_traced_replay(const CUpti_CallbackData& launch) {
  any.store(true, std::memory_order_relaxed);
  note(launch, correlation_in_log(launch.correlationId));
}

void note_replay_between(const CUpti_CallbackData& launch) { note(launch, 0); }

void note_untraced_replay(const CUpti_CallbackData& launch) {
  const void* graph = graph_of(launch);
  if (graph == nullptr) return;
  GraphReplay* place = place_of(graph);
  const uint32_t lost =
      place == nullptr ? 0 : place->correlation.exchange(0, std::memory_order_relaxed);
  if (lost != 0) {
    write_device_record(wire::RecordType::replay_overwritten, wire::ReplayOverwritten{lost, 0});
  }
}

CUptiResult enable_resource_callbacks(CUpti_SubscriberHandle subscriber) {
  for (const CUpti_CallbackId id : kWanted) {
    const CUptiResult result = cupti().enable_callback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE, id);
    if (result != CUPTI_SUCCESS) return result;
  }
  return CUPTI_SUCCESS;
}

void resource_callback(CUpti_CallbackId id, const CUpti_ResourceData* data) {
  if (id == CUPTI_CBID_RESOURCE_CONTEXT_CREATED) {
    note_allocation();
    return note_cuda_is_ready();
  }
  if (data == nullptr) return;
  if (id == CUPTI_CBID_RESOURCE_MODULE_LOADED) return note_module(*data);
  if (id == CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED) {
    return note_driver_memory(wire::MemoryAction::graph_instantiated, data->context, 0);
  }
  const bool cloned = id == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED;
  if (!cloned && id != CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED) return;
  const auto* graph = static_cast<const CUpti_GraphData*>(data->resourceDescriptor);
  if (graph != nullptr) record_graph_node(*graph, cloned);
}

bool cuda_is_ready() { return ready.load(std::memory_order_acquire); }

void note_cuda_is_ready() { ready.store(true, std::memory_order_release); }

}  // namespace llmprof::collector
