#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "trace/trace.h"

namespace llmprof::analysis {

// The driver gives out GPU memory in pages of this size.
inline constexpr uint64_t kMemoryPage = uint64_t{2} << 20U;

struct RecordedAllocation {
  uint64_t bytes = 0;
  trace::StringId library;
  uint64_t pool = 0;  // 0: none
  trace::DeviceId device;
  Nanoseconds time = 0;
};
using AllocationsByAddress = std::map<uint64_t, RecordedAllocation>;

// A pool of the driver (cudaMallocAsync).
struct DevicePool {
  trace::DeviceId device;
  uint64_t bytes = 0;  // as the driver stated last
};

// Whether the event changes how much of a GPU's memory is in use: not one of the host's memory, or
// inside a pool that stays as it is.
bool changes_memory(const trace::MemoryEventTable& events, size_t row);

// What a process has allocated, event by event. Virtual memory counts from its creation until
// nothing refers to it, neither its handle nor a mapping; CUPTI's allocations at mapped addresses
// describe the same memory, and are left out.
class LiveMemory {
 public:
  LiveMemory(const trace::MemoryEventTable& events, trace::ProcessId process);

  // The events after those applied before, up to `time`.
  void advance_to(Nanoseconds time);

  // cudaMalloc and alike, by address.
  [[nodiscard]] const AllocationsByAddress& allocations() const { return allocations_; }
  [[nodiscard]] const AllocationsByAddress& in_pools() const { return in_pools_; }
  [[nodiscard]] const AllocationsByAddress& managed() const { return managed_; }
  [[nodiscard]] const std::map<uint64_t, DevicePool>& pools() const { return pools_; }

  struct Sum {
    uint64_t bytes = 0;
    uint64_t count = 0;
  };
  [[nodiscard]] Sum virtual_memory(trace::DeviceId device) const;

  // What happened between the last two calls of advance_to.
  struct Happened {
    bool modules = false;
    bool graphs = false;
    bool managed = false;  // allocated or released
  };
  [[nodiscard]] const Happened& happened() const { return happened_; }

  // What all of these hold of a GPU; pools with their unused memory.
  [[nodiscard]] uint64_t held(trace::DeviceId device) const;

  // Memory that the driver adds: pages of 2 MiB that allocations touch, without their own bytes.
  [[nodiscard]] uint64_t rounding(trace::DeviceId device) const;

 private:
  // Physical memory.
  struct Physical {
    trace::DeviceId device;
    uint64_t bytes = 0;
    uint64_t references = 0;
  };
  struct Mapping {
    uint64_t bytes = 0;
    size_t physical = 0;  // index in physical_
  };

  void apply(size_t row);
  void put(AllocationsByAddress& among, size_t row, const RecordedAllocation& allocation);
  bool take_out(AllocationsByAddress& among, uint64_t address);
  void put_in_pool(size_t row, const RecordedAllocation& allocation);
  bool take_out_of_pool(size_t row);
  void destroy_pool(uint64_t pool);
  [[nodiscard]] int64_t height(uint64_t pool) const;
  void allocate(size_t row);
  void release(size_t row);
  void note_pool(size_t row);
  void map_memory(size_t row);
  void unmap_memory(size_t row);
  void retain(uint64_t handle);
  void release_handle(uint64_t handle);
  void add_reference(size_t physical);
  void drop_reference(size_t physical);
  [[nodiscard]] bool is_of_virtual_memory(size_t row) const;

  const trace::MemoryEventTable& events_;
  std::vector<size_t> rows_;                  // of the process
  size_t next_ = 0;                           // index in rows_
  std::map<uint64_t, uint64_t> ever_mapped_;  // ends of address ranges, by their begin
  AllocationsByAddress allocations_;
  AllocationsByAddress in_pools_;
  AllocationsByAddress managed_;
  std::map<uint64_t, DevicePool> pools_;
  std::unordered_map<uint64_t, uint64_t> used_of_pools_;  // bytes of in_pools_, by pool
  std::map<trace::DeviceId, int64_t> held_;
  std::vector<Physical> physical_;
  std::unordered_map<uint64_t, size_t> handles_;  // indices in physical_
  std::map<uint64_t, Mapping> mappings_;          // by address
  Happened happened_;
};

}  // namespace llmprof::analysis
