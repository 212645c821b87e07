#include "collector/cuda/tracing/api_calls.h"

#include <cstdint>

#include "collector/cuda/cupti/cupti_library.h"
#include "collector/cuda/tracing/api_functions.h"
#include "collector/environment.h"
#include "collector/launches/host_calls.h"

namespace llmprof::collector {
namespace {

// Kinds of the driver's functions, by CUPTI's number; 0: not watched.
constinit HostCallKind kinds[kMaxFunctions] = {};

HostCallKind kind_of(const char* bare) {
  if (is_launch(bare)) return HostCallKind::driver_kernel;
  if (launches_graph(bare)) return HostCallKind::driver_graph;
  return waits(bare) ? HostCallKind::driver_wait : HostCallKind{};
}

// FNV-1a: the same function has the same number in every run.
uint64_t hash_of(const char* symbol) {
  uint64_t hash = 14695981039346656037ULL;
  for (; symbol != nullptr && *symbol != '\0'; ++symbol) {
    hash = (hash ^ static_cast<unsigned char>(*symbol)) * 1099511628211ULL;
  }
  return hash;
}

uint64_t handle_of(HostCallKind kind, const CUpti_CallbackData& call) {
  if (kind == HostCallKind::driver_kernel) return hash_of(call.symbolName);
  // The first parameter of every function that launches a graph.
  uintptr_t graph = 0;
  std::memcpy(&graph, call.functionParams, sizeof graph);
  return graph;
}

void CUPTIAPI on_driver_call(void* /*user*/, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                             const void* data) {
  if (domain != CUPTI_CB_DOMAIN_DRIVER_API || id >= kMaxFunctions) return;
  const auto& call = *static_cast<const CUpti_CallbackData*>(data);
  const HostCallKind kind = kinds[id];
  const bool enters = call.callbackSite == CUPTI_API_ENTER;
  if (kind == HostCallKind::driver_wait) {
    if (enters) {
      *call.correlationData = static_cast<uint64_t>(now_ns());
    } else if (*call.correlationData != 0) {
      note_wait(kind, static_cast<int64_t>(*call.correlationData));
    }
  } else if (enters) {
    note_launch(kind, handle_of(kind, call));
  }
}

}  // namespace

void watch_driver_calls() {
  CUpti_SubscriberHandle subscriber = nullptr;
  if (!load_cupti() || cupti().subscribe(&subscriber, on_driver_call, nullptr) != CUPTI_SUCCESS) {
    write_warning("CUPTI is missing, or another tool uses it: launches are not watched");
    return;
  }
  for_each_function(CUPTI_CB_DOMAIN_DRIVER_API, [&](uint32_t id, const char* bare) {
    kinds[id] = kind_of(bare);
    if (kinds[id] != HostCallKind{}) {
      cupti().enable_callback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, id);
    }
  });
}

}  // namespace llmprof::collector
