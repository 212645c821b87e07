#pragma once

#include <atomic>
#include <cstdint>

// Who is told of ranges that have a role (Role): the CUDA part, which decides by them when to
// record. It registers itself, so that annotations do not depend on it.
namespace llmprof::collector {

struct RangeWatcher {
  // A range with these roles opens on this thread.
  void (*opened)(uint8_t roles);
  // The range that armed the collector has closed.
  void (*arming_range_closed)();
};

// Null: nobody.
inline constinit std::atomic<const RangeWatcher*> range_watcher = nullptr;

}  // namespace llmprof::collector
