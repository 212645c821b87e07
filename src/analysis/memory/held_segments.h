#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "analysis/memory/allocator_history.h"
#include "trace/trace.h"

namespace llmprof::analysis {

// The segments of one GPU after the first `events` events: counted back from the snapshot, which
// knows the pool of each. A segment that was released since then counts as one of the default pool.
class HeldSegments {
 public:
  HeldSegments(const trace::AllocatorSnapshot& snapshot, uint32_t device,
               const AllocatorHistory& history, size_t events);

  [[nodiscard]] int64_t reserved() const { return reserved_; }
  [[nodiscard]] int64_t in_private_pools() const { return private_; }
  [[nodiscard]] bool is_private(uint64_t address) const;

 private:
  void undo(const trace::AllocatorEventTable& events, size_t row);

  std::map<uint64_t, uint64_t> private_ends_;  // of private segments, by their begin
  int64_t reserved_ = 0;
  int64_t private_ = 0;
};

}  // namespace llmprof::analysis
