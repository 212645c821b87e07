#pragma once

#include <cupti.h>

// The functions of CUPTI that tracing needs.
namespace llmprof::collector {

// The only list: declares the table's fields, and finds them. Without all of them there is no
// tracing.
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

}  // namespace llmprof::collector
