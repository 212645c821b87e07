#include "collector/cuda/tracing/memory_calls.h"

#include <cupti.h>

#include <atomic>
#include <cstdint>
#include <cstring>

#include "collector/cuda/cupti/cupti_library.h"
#include "collector/cuda/tracing/api_calls.h"
#include "collector/cuda/tracing/api_functions.h"
#include "collector/environment.h"
#include "collector/recorder.h"
#include "wire/cuda_records.h"

namespace llmprof::collector {
namespace {

using wire::MemoryAction;

constexpr char kNoRecords[] =
    "this CUPTI cannot record allocations of GPU memory; set LLMPROF_CUPTI to the libcupti of CUDA "
    "12.6 or later";

constexpr CUpti_ActivityKind kMemoryActivities[] = {CUPTI_ACTIVITY_KIND_MEMORY2,
                                                    CUPTI_ACTIVITY_KIND_MEMORY_POOL};

constexpr struct {
  const char* name;
  MemoryAction action;
} kMapping[] = {
    {"MemCreate", MemoryAction::create},
    {"MemMap", MemoryAction::map},
    {"MemUnmap", MemoryAction::unmap},
    {"MemRelease", MemoryAction::release_handle},
    {"MemRetainAllocationHandle", MemoryAction::retain_handle},
};

struct MemoryRecords {
  std::atomic<int64_t> latest_change = 0;
  std::atomic<bool> reported = false;  // that this CUPTI has none
  std::atomic<bool> are_on = false;
  std::atomic<bool> name_libraries = false;  // records have a `source`
  // Of the driver's functions, by CUPTI's number; 0: none.
  std::atomic<MemoryAction> actions[kMaxFunctions] = {};
};
constinit MemoryRecords memory;

int64_t time_of(uint64_t timestamp) {
  return timestamp != 0 ? static_cast<int64_t>(timestamp) : now_ns();
}

// Records that no call made have the correlation 0.
uint32_t in_log(uint32_t correlation) {
  return correlation == 0 ? 0 : correlation_in_log(correlation);
}

void write_buffers_of_cupti() {
  using Get = CUptiResult(CUPTIAPI*)(CUpti_ActivityAttribute, size_t*, void*);
  auto* get = reinterpret_cast<Get>(cupti_symbol("cuptiActivityGetAttribute"));
  if (get == nullptr) return;
  size_t bytes = 0;
  size_t count = 0;
  size_t size = sizeof bytes;
  if (get(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE, &size, &bytes) == CUPTI_SUCCESS &&
      get(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_PRE_ALLOCATE_VALUE, &size, &count) == CUPTI_SUCCESS) {
    write_device_record(wire::RecordType::cupti_memory, wire::CuptiMemory{bytes, count});
  }
}

bool switch_libraries_on() {
  using Enable = CUptiResult(CUPTIAPI*)(uint8_t);
  auto* enable = reinterpret_cast<Enable>(cupti_symbol("cuptiActivityEnableAllocationSource"));
  return enable != nullptr && enable(1) == CUPTI_SUCCESS;
}

template <class Parameters>
Parameters parameters_of(const CUpti_CallbackData& call) {
  Parameters parameters{};
  std::memcpy(&parameters, call.functionParams, sizeof parameters);
  return parameters;
}

// The address, size and handle of a call. False if it concerns no GPU's memory.
bool describe(MemoryAction action, const CUpti_CallbackData& call, wire::MemoryEvent& event) {
  switch (action) {
    case MemoryAction::create: {
      const auto create = parameters_of<cuMemCreate_params>(call);
      if (create.prop->location.type != CU_MEM_LOCATION_TYPE_DEVICE) return false;
      event.device = static_cast<uint32_t>(create.prop->location.id);
      event.bytes = create.size;
      event.owner = *create.handle;
      return true;
    }
    case MemoryAction::map: {
      const auto map = parameters_of<cuMemMap_params>(call);
      event.address = map.ptr;
      event.bytes = map.size;
      event.owner = map.handle;
      return true;
    }
    case MemoryAction::unmap: {
      const auto unmap = parameters_of<cuMemUnmap_params>(call);
      event.address = unmap.ptr;
      event.bytes = unmap.size;
      return true;
    }
    case MemoryAction::release_handle:
      event.owner = parameters_of<cuMemRelease_params>(call).handle;
      return true;
    case MemoryAction::retain_handle:
      event.owner = *parameters_of<cuMemRetainAllocationHandle_params>(call).handle;
      return true;
    default:
      return false;
  }
}

}  // namespace

void enable_memory_records() {
  for (const CUpti_ActivityKind kind : kMemoryActivities) {
    if (cupti().activity_enable(kind) == CUPTI_SUCCESS) continue;
    if (memory.reported.exchange(true)) return;
    write_device_record(wire::RecordType::memory_off,
                        wire::MemoryOff{now_ns(), text_key(kNoRecords), 0});
    return;
  }
  memory.are_on.store(true, std::memory_order_relaxed);
  memory.name_libraries.store(switch_libraries_on(), std::memory_order_relaxed);
  write_buffers_of_cupti();
}

void disable_memory_records() {
  for (const CUpti_ActivityKind kind : kMemoryActivities) cupti().activity_disable(kind);
}

void note_memory_records_ended() { memory.are_on.store(false, std::memory_order_relaxed); }

// Packed structures: fields are copied, never referenced.
wire::MemoryEvent event_of(const CUpti_ActivityMemory4& activity) {
  note_memory_change();
  wire::MemoryEvent event{};
  event.time = time_of(activity.timestamp);
  event.action = activity.memoryOperationType == CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE
                     ? MemoryAction::release
                     : MemoryAction::allocation;
  event.kind = static_cast<uint32_t>(activity.memoryKind);
  event.address = activity.address;
  event.bytes = activity.bytes;
  event.owner = activity.memoryPoolConfig.address;
  if (activity.memoryPoolConfig.memoryPoolType == CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL) {
    event.pool_bytes = activity.memoryPoolConfig.pool.size;
    event.pool_used_bytes = activity.memoryPoolConfig.utilizedSize;
  }
  event.device = activity.deviceId;
  event.context = activity.contextId;
  event.stream = activity.streamId == CUPTI_INVALID_STREAM_ID ? 0 : activity.streamId;
  event.correlation = in_log(activity.correlationId);
  if (activity.name != nullptr) event.name = text_key(activity.name);
  if (memory.name_libraries.load(std::memory_order_relaxed) && activity.source != nullptr) {
    event.library = text_key(activity.source);
  }
  return event;
}

wire::MemoryEvent event_of(const CUpti_ActivityMemoryPool3& activity) {
  note_memory_change();
  wire::MemoryEvent event{};
  event.time = time_of(activity.timestamp);
  switch (activity.memoryPoolOperationType) {
    case CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_CREATED:
      event.action = MemoryAction::pool_created;
      break;
    case CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_DESTROYED:
      event.action = MemoryAction::pool_destroyed;
      break;
    default:
      event.action = MemoryAction::pool_trimmed;
  }
  event.address = activity.address;
  event.owner = activity.address;
  if (activity.memoryPoolType == CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL) {
    event.pool_bytes = activity.size;
    event.pool_used_bytes = activity.utilizedSize;
  }
  event.device = activity.deviceId;
  event.correlation = in_log(activity.correlationId);
  return event;
}

bool maps_memory(const char* bare) {
  for (const auto& function : kMapping) {
    if (std::strcmp(bare, function.name) == 0) return true;
  }
  return false;
}

void note_memory_function(CUpti_CallbackId id, const char* bare) {
  for (const auto& function : kMapping) {
    if (std::strcmp(bare, function.name) == 0) {
      memory.actions[id].store(function.action, std::memory_order_relaxed);
    }
  }
}

void memory_callback(CUpti_CallbackId id, const CUpti_CallbackData& data, uint32_t correlation) {
  if (data.callbackSite != CUPTI_API_EXIT || !memory.are_on.load(std::memory_order_relaxed)) return;
  int result = 0;
  if (data.functionReturnValue != nullptr) {
    std::memcpy(&result, data.functionReturnValue, sizeof result);
  }
  if (result != 0) return;
  note_memory_change();
  const Call call;
  if (!call || !recording()) return;
  record(call.thread(), wire::RecordType::allocation_call, wire::AllocationCall{correlation, 0});
  const MemoryAction action = memory.actions[id].load(std::memory_order_relaxed);
  wire::MemoryEvent event{};
  if (action == MemoryAction{} || data.functionParams == nullptr ||
      !describe(action, data, event)) {
    return;
  }
  event.time = now_ns();
  event.action = action;
  event.context = data.contextUid;
  event.correlation = correlation;
  write_device_record(wire::RecordType::memory_event, event);
}

void note_driver_memory(MemoryAction action, CUcontext context, uint64_t bytes) {
  if (!memory.are_on.load(std::memory_order_relaxed)) return;
  note_memory_change();
  wire::MemoryEvent event{};
  event.time = now_ns();
  event.action = action;
  event.bytes = bytes;
  using Get = CUptiResult(CUPTIAPI*)(CUcontext, uint32_t*);
  auto* device_of = reinterpret_cast<Get>(cupti_symbol("cuptiGetDeviceId"));
  if (device_of != nullptr && context != nullptr) device_of(context, &event.device);
  write_device_record(wire::RecordType::memory_event, event);
}

void note_memory_change() { memory.latest_change.store(now_ns(), std::memory_order_relaxed); }

int64_t last_memory_change() { return memory.latest_change.load(std::memory_order_relaxed); }

}  // namespace llmprof::collector
