#include "collector/cuda/allocations/allocation_events.h"

#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <cstring>

#include "collector/cuda/allocations/driver_symbols.h"
#include "collector/cuda/allocations/pools.h"
#include "collector/cuda/tracing/memory_calls.h"
#include "collector/cuda/tracing/resources.h"
#include "collector/environment.h"
#include "collector/launches/loaded_library.h"
#include "collector/launches/real_function.h"
#include "collector/recorder.h"

namespace llmprof::collector {
namespace {

using wire::MemoryAction;

constinit std::atomic<bool> notes = false;
constinit KnownPools pools;

// Of this thread. `caller`: of the outermost call into CUDA that may allocate; null: none.
struct CallsOfThread {
  const void* caller = nullptr;
  unsigned calls = 0;
  unsigned driver_calls = 0;
};
constinit thread_local CallsOfThread calls;

// Numbers of these calls in the log. CUPTI, which may be attached as well, counts up from 1.
uint32_t next_correlation() {
  constexpr uint32_t kFirst = uint32_t{1} << 31U;
  static constinit std::atomic<uint32_t> next = 0;
  return kFirst | next.fetch_add(1, std::memory_order_relaxed);
}

// Paths are kept by the library's place: to find a library takes longer than to allocate.
const char* library_of(const void* address) {
  static constinit LibraryFunctions paths;
  if (void* known = paths.of(reinterpret_cast<uintptr_t>(address)); known != nullptr) {
    return static_cast<const char*>(known);
  }
  const LoadedLibrary library = library_at(address);
  if (library.end == 0) return nullptr;
  // The loader frees its own text if the library is unloaded.
  char* path = strdup(library.name[0] == '\0' ? program_invocation_name : library.name);
  if (path != nullptr && !paths.remember(library.begin, library.end, path)) {
    free(path);
    return nullptr;
  }
  return path;
}

template <auto* kFunction, class... Arguments>
bool ask(DriverSymbol& symbol, Arguments... arguments) {
  auto* function = reinterpret_cast<decltype(kFunction)>(symbol.get());
  return function != nullptr && function(arguments...) == CUDA_SUCCESS;
}
constinit DriverSymbol ctx_get_device{"cuCtxGetDevice"};
constinit DriverSymbol pointer_get_attribute{"cuPointerGetAttribute"};
constinit DriverSymbol pool_get_attribute{"cuMemPoolGetAttribute"};

uint32_t current_device() {
  CUdevice device = 0;
  return ask<cuCtxGetDevice>(ctx_get_device, &device) ? static_cast<uint32_t>(device) : 0;
}

uint32_t device_of(CUdeviceptr address) {
  int device = 0;
  return ask<cuPointerGetAttribute>(pointer_get_attribute, static_cast<void*>(&device),
                                    CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address) &&
                 device >= 0
             ? static_cast<uint32_t>(device)
             : current_device();
}

// False if the driver does not say.
bool ask_pool(CUmemoryPool pool, CUmemPool_attribute attribute, uint64_t& bytes) {
  cuuint64_t found = 0;
  if (!ask<cuMemPoolGetAttribute>(pool_get_attribute, pool, attribute,
                                  static_cast<void*>(&found))) {
    return false;
  }
  bytes = found;
  return true;
}

bool state_pool(CUmemoryPool pool, wire::MemoryEvent& event) {
  return ask_pool(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, event.pool_bytes) &&
         ask_pool(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, event.pool_used_bytes);
}

// What a pool has after an allocation, a release or a call of its own.
void add_pool(CUmemoryPool pool, wire::MemoryEvent& event) {
  event.owner = reinterpret_cast<uintptr_t>(pool);
  pools.visit(pool, [&](KnownPool& known) {
    event.device = known.device;
    event.pool_bytes = known.bytes;
    if (state_pool(pool, event)) known.bytes = event.pool_bytes;
  });
}

wire::MemoryEvent new_event(MemoryAction action) {
  wire::MemoryEvent event{};
  event.time = now_ns();
  event.action = action;
  return event;
}

}  // namespace

void begin_memory_calls() {
  write_device_record(wire::RecordType::memory_calls, wire::MemoryCalls{now_ns()});
  notes.store(true, std::memory_order_release);
}

bool notes_memory_calls() { return notes.load(std::memory_order_acquire); }

AllocatingCall::AllocatingCall(const void* caller) {
  if (calls.calls++ == 0) calls.caller = caller;
}
AllocatingCall::~AllocatingCall() { --calls.calls; }

DriverCall::DriverCall(const void* caller)
    : call_(caller), noted_(calls.driver_calls++ == 0 && notes_memory_calls()) {}
DriverCall::~DriverCall() { --calls.driver_calls; }

void DriverCall::begin_release() {
  if (noted_) began_ = now_ns();
}

void DriverCall::write(wire::MemoryEvent event) {
  note_cuda_is_ready();
  note_memory_change();
  const Call call;
  if (!call || !recording()) return;
  event.correlation = next_correlation();
  if (const char* library = library_of(calls.caller); library != nullptr) {
    event.library = text_key(library);
  }
  record(call.thread(), wire::RecordType::allocation_call,
         wire::AllocationCall{event.correlation, 0});
  write_device_record(wire::RecordType::memory_event, event);
}

void DriverCall::allocated(uint32_t kind, CUdeviceptr address, uint64_t bytes, CUmemoryPool pool) {
  wire::MemoryEvent event = new_event(MemoryAction::allocation);
  event.kind = kind;
  event.address = address;
  event.bytes = bytes;
  event.device = device_of(address);
  if (pool != nullptr) {
    pools.add({pool, event.device, 0});
    add_pool(pool, event);
  }
  write(event);
}

void DriverCall::released(uint32_t kind, CUdeviceptr address, CUmemoryPool pool) {
  wire::MemoryEvent event = new_event(MemoryAction::release);
  event.time = began_;
  event.kind = kind;
  event.address = address;
  event.device = current_device();
  if (pool != nullptr) add_pool(pool, event);
  write(event);
}

void DriverCall::created(CUmemGenericAllocationHandle handle, uint64_t bytes,
                         const CUmemAllocationProp& properties) {
  if (properties.location.type != CU_MEM_LOCATION_TYPE_DEVICE) return;
  wire::MemoryEvent event = new_event(MemoryAction::create);
  event.bytes = bytes;
  event.owner = handle;
  event.device = static_cast<uint32_t>(properties.location.id);
  write(event);
}

void DriverCall::mapped(CUdeviceptr address, uint64_t bytes, CUmemGenericAllocationHandle handle) {
  wire::MemoryEvent event = new_event(MemoryAction::map);
  event.address = address;
  event.bytes = bytes;
  event.owner = handle;
  write(event);
}

void DriverCall::unmapped(CUdeviceptr address, uint64_t bytes) {
  wire::MemoryEvent event = new_event(MemoryAction::unmap);
  event.time = began_;
  event.address = address;
  event.bytes = bytes;
  write(event);
}

void DriverCall::released_handle(CUmemGenericAllocationHandle handle) {
  wire::MemoryEvent event = new_event(MemoryAction::release_handle);
  event.time = began_;
  event.owner = handle;
  write(event);
}

void DriverCall::retained_handle(CUmemGenericAllocationHandle handle) {
  wire::MemoryEvent event = new_event(MemoryAction::retain_handle);
  event.owner = handle;
  write(event);
}

void DriverCall::created_pool(CUmemoryPool pool, const CUmemPoolProps& properties) {
  if (properties.location.type != CU_MEM_LOCATION_TYPE_DEVICE) return;
  wire::MemoryEvent event = new_event(MemoryAction::pool_created);
  event.address = reinterpret_cast<uintptr_t>(pool);
  pools.add({pool, static_cast<uint32_t>(properties.location.id), 0});
  add_pool(pool, event);
  write(event);
}

void DriverCall::trimmed_pool(CUmemoryPool pool) {
  wire::MemoryEvent event = new_event(MemoryAction::pool_trimmed);
  event.address = reinterpret_cast<uintptr_t>(pool);
  add_pool(pool, event);
  write(event);
}

void DriverCall::destroyed_pool(CUmemoryPool pool) {
  wire::MemoryEvent event = new_event(MemoryAction::pool_destroyed);
  event.address = reinterpret_cast<uintptr_t>(pool);
  event.owner = event.address;
  write(event);
}

void DriverCall::driver_took_memory(MemoryAction action) {
  wire::MemoryEvent event = new_event(action);
  event.device = current_device();
  write(event);
}

CUmemoryPool pool_of(CUdeviceptr address) {
  CUmemoryPool pool = nullptr;
  ask<cuPointerGetAttribute>(pointer_get_attribute, static_cast<void*>(&pool),
                             CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, address);
  return pool;
}

bool is_first_launch(const void* function) {
  constexpr size_t kPlaces = 16384;
  constexpr size_t kLongestProbe = 64;
  constexpr unsigned kAlignment = 4;
  static constinit std::atomic<const void*> launched[kPlaces] = {};
  const size_t first = reinterpret_cast<uintptr_t>(function) >> kAlignment;
  for (size_t probe = 0; probe < kLongestProbe; ++probe) {
    std::atomic<const void*>& place = launched[(first + probe) % kPlaces];
    const void* known = place.load(std::memory_order_relaxed);
    if (known == function) return false;
    if (known == nullptr &&
        place.compare_exchange_strong(known, function, std::memory_order_relaxed)) {
      return true;
    }
    if (known == function) return false;
  }
  return false;
}

void forget_pool(CUmemoryPool pool) { pools.remove(pool); }

void write_pools() {
  pools.visit_all([](KnownPool& known) {
    wire::MemoryEvent event = new_event(MemoryAction::pool_trimmed);
    event.address = reinterpret_cast<uintptr_t>(known.pool);
    event.owner = event.address;
    event.device = known.device;
    if (!state_pool(known.pool, event) || event.pool_bytes == known.bytes) return;
    known.bytes = event.pool_bytes;
    note_memory_change();
    write_device_record(wire::RecordType::memory_event, event);
  });
}

}  // namespace llmprof::collector
