#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "profile/memory.h"
#include "trace/allocator.h"

namespace llmprof::analysis {

// Sizes in damaged files may be so large that a sum wraps around, which is defined here.
inline void add_to(int64_t& sum, int64_t value) { __builtin_add_overflow(sum, value, &sum); }
inline void subtract_from(int64_t& sum, int64_t value) { __builtin_sub_overflow(sum, value, &sum); }

// Bytes at one moment. Relative ones may be negative.
struct AllocatorLevel {
  int64_t active = 0;
  int64_t allocated = 0;
  int64_t reserved = 0;
  int64_t allocations = 0;

  AllocatorLevel& operator+=(const AllocatorLevel& other) {
    add_to(active, other.active);
    add_to(allocated, other.allocated);
    add_to(reserved, other.reserved);
    add_to(allocations, other.allocations);
    return *this;
  }
};

inline constexpr uint32_t kNoEvent = UINT32_MAX;

// An allocation that is not yet free.
struct LiveAllocation {
  uint64_t address = 0;
  uint64_t size = 0;  // as events state it
  uint32_t stack = 0;
  bool awaiting_free = false;
  uint32_t event = kNoEvent;  // row of the event that made it; kNoEvent: before the first
};

// The allocations of one GPU while its events are replayed.
class LiveAllocations {
 public:
  // What an event changed. `unknown`: it freed an allocation of which there was no event.
  struct Change {
    AllocatorLevel level;
    std::optional<LiveAllocation> unknown;
    bool contradicts = false;
  };

  void add(const LiveAllocation& allocation);
  Change apply(const trace::AllocatorEventTable& events, size_t row);

  // Null unless it is live.
  [[nodiscard]] const LiveAllocation* at(uint64_t address) const;
  [[nodiscard]] bool has_seen(uint64_t address) const { return entries_.contains(address); }
  [[nodiscard]] std::vector<LiveAllocation> all() const;

 private:
  struct Entry {
    LiveAllocation allocation;
    bool is_live = false;
  };
  std::unordered_map<uint64_t, Entry> entries_;
};

// A level after the first `events` events of a GPU.
struct AllocatorMoment {
  size_t events = 0;
  AllocatorLevel level;
};

// What the events of one GPU show. The first events may be lost: levels count back from the
// snapshot, where all is known.
struct AllocatorHistory {
  std::vector<uint32_t> rows;            // of the events of this GPU, in order
  std::vector<LiveAllocation> at_start;  // made before the first event
  AllocatorMoment peak;                  // of active bytes
  AllocatorMoment reserved_peak;
  std::vector<AllocatorMoment> timeline;
  profile::MemoryEventSize event_size = profile::MemoryEventSize::unknown;
  uint64_t allocations = 0;
  uint64_t frees = 0;
  uint64_t contradicting = 0;
  uint64_t largest_allocation = 0;
};

AllocatorHistory allocator_history(const trace::AllocatorSnapshot& snapshot, uint32_t device);

// The allocations after the first `events` events.
LiveAllocations replay(const trace::AllocatorSnapshot& snapshot, const AllocatorHistory& history,
                       size_t events);

}  // namespace llmprof::analysis
