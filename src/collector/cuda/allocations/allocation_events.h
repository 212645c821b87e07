#pragma once

#include <cuda.h>

#include <cstdint>

#include "wire/cuda_records.h"

// Allocations of GPU memory as the program's calls of the driver make them, without CUPTI.
namespace llmprof::collector {

// From now on calls are noted. Before the program's first allocation.
void begin_memory_calls();
[[nodiscard]] bool notes_memory_calls();

// A call of the program into the driver or the runtime on this thread, and what these call inside
// it: the outermost one is that of the library which allocates.
class AllocatingCall {
 public:
  explicit AllocatingCall(const void* caller);
  ~AllocatingCall();
  AllocatingCall(const AllocatingCall&) = delete;
  AllocatingCall& operator=(const AllocatingCall&) = delete;
};

// The outermost call of the driver on this thread: what the driver calls itself is not noted.
class DriverCall {
 public:
  explicit DriverCall(const void* caller);
  ~DriverCall();
  DriverCall(const DriverCall&) = delete;
  DriverCall& operator=(const DriverCall&) = delete;

  [[nodiscard]] bool is_noted() const { return noted_; }

  // Before memory is released: the event gets this time, since the address may be allocated again
  // before the call returns.
  void begin_release();

  // What has happened in the call.
  void allocated(uint32_t kind, CUdeviceptr address, uint64_t bytes, CUmemoryPool pool = nullptr);
  void released(uint32_t kind, CUdeviceptr address, CUmemoryPool pool = nullptr);
  void created(CUmemGenericAllocationHandle handle, uint64_t bytes,
               const CUmemAllocationProp& properties);
  void mapped(CUdeviceptr address, uint64_t bytes, CUmemGenericAllocationHandle handle);
  void unmapped(CUdeviceptr address, uint64_t bytes);
  void released_handle(CUmemGenericAllocationHandle handle);
  void retained_handle(CUmemGenericAllocationHandle handle);
  void created_pool(CUmemoryPool pool, const CUmemPoolProps& properties);
  void trimmed_pool(CUmemoryPool pool);
  void destroyed_pool(CUmemoryPool pool);
  // The driver may have taken memory: it loaded code, or instantiated a graph.
  void driver_took_memory(wire::MemoryAction action);

 private:
  void write(wire::MemoryEvent event);

  AllocatingCall call_;
  bool noted_;
  int64_t began_ = 0;
};

// The pool of an allocation; null: none.
[[nodiscard]] CUmemoryPool pool_of(CUdeviceptr address);

// Whether the function was launched for the first time: the driver may load its code then.
[[nodiscard]] bool is_first_launch(const void* function);

// Before the program destroys it.
void forget_pool(CUmemoryPool pool);
// Writes the sizes of pools that have changed: the driver shrinks them when it waits for a stream.
// For the collector's own thread, before it reads the GPU's memory.
void write_pools();

}  // namespace llmprof::collector
