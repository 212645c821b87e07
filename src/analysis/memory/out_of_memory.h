#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/memory/allocator_history.h"
#include "profile/memory.h"
#include "trace/allocator.h"

namespace llmprof::analysis {

// A failed allocation, with the memory of that moment.
struct FailedAllocation {
  size_t event = 0;  // index among the GPU's events
  uint32_t stack = 0;
  trace::AllocatorPool pool;
  uint64_t stream = 0;
  uint64_t size = 0;
  uint64_t device_free = 0;
  uint64_t active = 0;  // rounded up as the allocator does
  uint64_t reserved = 0;
  uint64_t free_same = 0;
  uint64_t largest_free_same = 0;
  uint64_t free_other = 0;
  uint64_t missing = 0;
  bool expandable = false;
  profile::OutOfMemoryCause cause{};
};

// The first 100 of a GPU.
std::vector<FailedAllocation> failed_allocations(const trace::AllocatorSnapshot& snapshot,
                                                 uint32_t device, const AllocatorHistory& history);

}  // namespace llmprof::analysis
