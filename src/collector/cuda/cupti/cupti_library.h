#pragma once

#include <cupti.h>

#include <cstdint>

// libcupti, found at run time: LLMPROF_CUPTI if set, and no other; else the one that the process
// has already loaded, then CUDA_HOME, the loader's path, /usr/local/cuda, and
// LLMPROF_CUPTI_FALLBACK.
namespace llmprof::collector {

// The functions of CUPTI that tracing needs. The only list: declares the table's fields, and finds
// them. Without all of them there is no tracing.
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

// False if there is none, or it lacks a function that the collector needs.
bool load_cupti();

[[nodiscard]] const char* cupti_path();              // empty before load_cupti
[[nodiscard]] uint32_t cupti_version();              // as cuptiGetVersion says
[[nodiscard]] void* cupti_symbol(const char* name);  // null if this version does not have it

// CUPTI has room for one subscriber, and we come first: a profiler inside the program
// (torch.profiler) would be refused. From now on, calls of cuptiSubscribe through the import tables
// of the loaded libraries call `give_way` first. To be called again when libraries were loaded
// since.
void watch_for_rivals(void (*give_way)());

}  // namespace llmprof::collector
