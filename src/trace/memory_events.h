#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "base/units.h"
#include "trace/ids.h"

namespace llmprof::trace {

// What happened to memory. The first two are all that tools other than our collector state.
enum class MemoryAction : uint8_t {
  allocation,
  release,
  pool_created,
  pool_destroyed,
  pool_trimmed,
  // Virtual memory: physical memory has a handle, and is mapped to addresses.
  create,
  map,
  unmap,
  release_handle,
  retain_handle,
  // The driver takes memory for these; how much is not stated.
  graph_instantiated,
  module_loaded,  // bytes: the size of its code
};

// What an allocation is of. Modules bring their variables with them: nobody allocates them.
enum class AllocationKind : uint8_t {
  unknown,
  pageable,
  pinned,
  device,
  array,
  managed,
  module_variable,
  managed_variable,
};

// Allocations and releases of GPU memory, and of pinned and pageable memory of the host; by time.
// An allocation of virtual memory may be there twice: as `map`, and as an `allocation` at the same
// address. CUPTI gives allocations and releases the correlation of an earlier call if it calls
// nobody back for their own, as for pools and host memory.
struct MemoryEventTable {
  std::vector<Nanoseconds> time;
  std::vector<ProcessId> process;
  std::vector<DeviceId> device;
  std::vector<MemoryAction> action;
  std::vector<AllocationKind> kind;
  std::vector<uint64_t> address;  // 0: none
  std::vector<uint64_t> bytes;
  std::vector<uint64_t> owner;  // the handle of virtual memory, otherwise the pool; 0: none
  std::vector<uint64_t> pool_bytes;
  std::vector<uint64_t> pool_used_bytes;
  std::vector<uint32_t> context;
  std::vector<uint32_t> stream;
  std::vector<uint32_t> correlation;
  std::vector<StringId> library;  // path of the caller; none: unknown
  std::vector<StringId> name;     // of a module's variable; none otherwise
  std::vector<RangeRow> range;    // innermost range of the calling thread; none: unknown, or none

  [[nodiscard]] size_t size() const { return time.size(); }
  auto columns() {
    return std::tie(time, process, device, action, kind, address, bytes, owner, pool_bytes,
                    pool_used_bytes, context, stream, correlation, library, name, range);
  }
};

// A device's memory according to NVML; by time.
struct MemoryReadingTable {
  // The program has not used the device yet; it runs; it exits.
  enum class Moment : uint8_t { before_context, running, end };
  static constexpr uint64_t kUnknown = UINT64_MAX;

  std::vector<Nanoseconds> time;
  std::vector<ProcessId> process;  // that read
  std::vector<DeviceId> device;
  std::vector<Moment> moment;
  std::vector<uint64_t> total;  // free, used and reserved
  std::vector<uint64_t> free;
  std::vector<uint64_t> used;
  std::vector<uint64_t> reserved;  // by the driver
  std::vector<uint64_t> own;       // of the process; kUnknown: not available
  std::vector<uint64_t> others;    // of all other processes; kUnknown: not available

  [[nodiscard]] size_t size() const { return time.size(); }
  auto columns() {
    return std::tie(time, process, device, moment, total, free, used, reserved, own, others);
  }
};

// What PyTorch's allocator reported in a trace (torch.profiler with profile_memory=True), by time.
// These are blocks inside the segments that it holds from the driver: none of them is in
// MemoryEventTable.
struct TensorMemoryTable {
  std::vector<Nanoseconds> time;
  std::vector<ThreadId> thread;
  std::vector<uint32_t> device;  // as PyTorch numbers it
  std::vector<uint64_t> address;
  std::vector<int64_t> bytes;       // negative: freed
  std::vector<uint64_t> allocated;  // of the device, after the event
  std::vector<uint64_t> reserved;   // held from the driver

  [[nodiscard]] size_t size() const { return time.size(); }
  auto columns() { return std::tie(time, thread, device, address, bytes, allocated, reserved); }
};

// GPU memory that the profiler takes with each context of a process.
struct ProfilerMemory {
  ProcessId process;
  uint64_t bytes = 0;
};

}  // namespace llmprof::trace
