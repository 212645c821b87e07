#pragma once

#include <cupti.h>

#include <cstdint>

// Finds libcupti at run time: only LLMPROF_CUPTI if it is set; otherwise the one that the process
// has already loaded, then CUDA_HOME, the loader's path, /usr/local/cuda, and
// LLMPROF_CUPTI_FALLBACK.
namespace llmprof::collector {

// The CUPTI functions that tracing needs, all of them. The only list: it declares the table's
// fields and finds them.
#define LLMPROF_CUPTI_FUNCTIONS(FUNCTION)                      \
  FUNCTION(get_version, cuptiGetVersion)                       \
  FUNCTION(subscribe, cuptiSubscribe)                          \
  FUNCTION(unsubscribe, cuptiUnsubscribe)                      \
  FUNCTION(enable_callback, cuptiEnableCallback)               \
  FUNCTION(enable_domain, cuptiEnableDomain)                   \
  FUNCTION(callback_name, cuptiGetCallbackName)                \
  FUNCTION(activity_enable, cuptiActivityEnable)               \
  FUNCTION(activity_disable, cuptiActivityDisable)             \
  FUNCTION(register_buffers, cuptiActivityRegisterCallbacks)   \
  FUNCTION(next_record, cuptiActivityGetNextRecord)            \
  FUNCTION(dropped_records, cuptiActivityGetNumDroppedRecords) \
  FUNCTION(flush_all, cuptiActivityFlushAll)                   \
  FUNCTION(finalize, cuptiFinalize)                            \
  FUNCTION(graph_node_id, cuptiGetGraphNodeId)                 \
  FUNCTION(register_timestamps, cuptiActivityRegisterTimestampCallback)

struct CuptiFunctions {
// NOLINTNEXTLINE(bugprone-macro-parentheses): names cannot be in parentheses
#define LLMPROF_DECLARE(field, name) decltype(name)* field = nullptr;
  LLMPROF_CUPTI_FUNCTIONS(LLMPROF_DECLARE)
#undef LLMPROF_DECLARE
};

// Filled by load_cupti.
const CuptiFunctions& cupti();

// False if libcupti is missing or lacks a function that the collector needs.
bool load_cupti();

[[nodiscard]] const char* cupti_path();              // empty before load_cupti
[[nodiscard]] uint32_t cupti_version();              // from cuptiGetVersion
[[nodiscard]] void* cupti_symbol(const char* name);  // null if this version does not have it

// CUPTI allows one subscriber, and the collector comes first: a profiler inside the program
// (torch.profiler) would be refused. From now on, calls of cuptiSubscribe through the import tables
// of the loaded libraries call `give_way` first. Call it again after more libraries were loaded.
void watch_for_rivals(void (*give_way)());

}  // namespace llmprof::collector
