#include "collector/cuda/tracing/resources.h"

#include <atomic>

#include "collector/cuda/cupti/cupti_library.h"
#include "collector/cuda/tracing/graphs.h"

namespace llmprof::collector {
namespace {

constinit std::atomic<bool> ready = false;

constexpr CUpti_CallbackId kWanted[] = {CUPTI_CBID_RESOURCE_CONTEXT_CREATED,
                                        CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED,
                                        CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED};

}  // namespace

CUptiResult enable_resource_callbacks(CUpti_SubscriberHandle subscriber) {
  for (const CUpti_CallbackId id : kWanted) {
    const CUptiResult result = cupti().enable_callback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE, id);
    if (result != CUPTI_SUCCESS) return result;
  }
  return CUPTI_SUCCESS;
}

void resource_callback(CUpti_CallbackId id, const CUpti_ResourceData* data) {
  const auto* graph =
      data == nullptr ? nullptr : static_cast<const CUpti_GraphData*>(data->resourceDescriptor);
  switch (id) {
    case CUPTI_CBID_RESOURCE_CONTEXT_CREATED:
      note_allocation();
      return note_cuda_is_ready();
    case CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED:
      if (graph != nullptr) graph_node_created(*graph);
      return;
    case CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED:
      if (graph != nullptr) graph_node_cloned(*graph);
      return;
    default:
      return;
  }
}

bool cuda_is_ready() { return ready.load(std::memory_order_acquire); }

void note_cuda_is_ready() { ready.store(true, std::memory_order_release); }

}  // namespace llmprof::collector
