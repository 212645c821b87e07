#pragma once

#include <cupti.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

// The fields of activity records by name. Records are packed, so they are copied, never referenced.
namespace llmprof::fake {

// Calls `use` with a typed copy of the record, then stores the copy. False if the kind is unknown
// here.
template <class Use>
bool with_record(void* record, Use use) {
  CUpti_ActivityKind kind = CUPTI_ACTIVITY_KIND_INVALID;
  std::memcpy(&kind, record, sizeof kind);
  const auto with = [&](auto value) {
    std::memcpy(&value, record, sizeof value);
    use(value);
    std::memcpy(record, &value, sizeof value);
    return true;
  };
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return with(CUpti_ActivityKernel10{});
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return with(CUpti_ActivityMemcpy6{});
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      return with(CUpti_ActivityMemcpyPtoP4{});
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return with(CUpti_ActivityMemset4{});
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
      return with(CUpti_ActivityGraphTrace2{});
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      return with(CUpti_ActivitySynchronization2{});
    case CUPTI_ACTIVITY_KIND_DRIVER:
    case CUPTI_ACTIVITY_KIND_RUNTIME:
      return with(CUpti_ActivityAPI{});
    case CUPTI_ACTIVITY_KIND_MEMORY2:
      return with(CUpti_ActivityMemory4{});
    case CUPTI_ACTIVITY_KIND_MEMORY_POOL:
      return with(CUpti_ActivityMemoryPool3{});
    default:
      return false;
  }
}

// 0: unknown here.
inline size_t record_bytes(CUpti_ActivityKind kind) {
  size_t bytes = 0;
  alignas(CUpti_ActivityKernel10) char record[sizeof(CUpti_ActivityKernel10)] = {};
  std::memcpy(record, &kind, sizeof kind);
  with_record(record, [&](auto& value) { bytes = sizeof value; });
  return bytes;
}

// The fields of any record that tests compare.
struct Fields {
  CUpti_ActivityKind kind = CUPTI_ACTIVITY_KIND_INVALID;
  uint64_t start = 0;
  uint64_t end = 0;
  uint32_t correlation = 0;
  uint32_t device = 0;
  uint32_t context = 0;
  uint32_t stream = 0;
  uint32_t graph = 0;
  uint64_t node = 0;
  uint64_t bytes = 0;
  const char* name = nullptr;
};

template <class Record>
Fields fields_of(const Record& record) {
  Fields fields;
  fields.kind = record.kind;
  if constexpr (requires { record.timestamp; }) fields.start = fields.end = record.timestamp;
  if constexpr (requires { record.start; }) {
    fields.start = record.start;
    fields.end = record.end;
  }
  fields.correlation = record.correlationId;
  if constexpr (requires { record.deviceId; }) fields.device = record.deviceId;
  if constexpr (requires { record.contextId; }) fields.context = record.contextId;
  if constexpr (requires { record.streamId; }) fields.stream = record.streamId;
  if constexpr (requires { record.graphId; }) fields.graph = record.graphId;
  if constexpr (requires { record.graphNodeId; }) fields.node = record.graphNodeId;
  if constexpr (requires { record.bytes; }) fields.bytes = record.bytes;
  if constexpr (requires { record.gridX; }) fields.name = record.name;
  return fields;
}

}  // namespace llmprof::fake
