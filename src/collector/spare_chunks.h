#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "collector/chunk.h"

namespace llmprof::collector {

// Chunks that are mapped in advance, taken in the order they were added, without a lock. One thread
// adds at a time.
class SpareChunks {
 public:
  [[nodiscard]] bool empty() const {
    return added_.load(std::memory_order_relaxed) == taken_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] bool wants_more() const {
    return added_.load(std::memory_order_relaxed) - taken_.load(std::memory_order_relaxed) < kReady;
  }
  void add(MappedChunk chunk) {
    const uint64_t place = added_.load(std::memory_order_relaxed);
    begins_[place % kPlaces].store(chunk.begin, std::memory_order_relaxed);
    sequences_[place % kPlaces].store(chunk.sequence, std::memory_order_relaxed);
    added_.store(place + 1, std::memory_order_release);
  }
  // False if there is none.
  bool take(MappedChunk& chunk) {
    uint64_t place = taken_.load(std::memory_order_acquire);
    do {
      if (place == added_.load(std::memory_order_acquire)) return false;
      chunk.begin = begins_[place % kPlaces].load(std::memory_order_relaxed);
      chunk.sequence = sequences_[place % kPlaces].load(std::memory_order_relaxed);
    } while (!taken_.compare_exchange_weak(place, place + 1, std::memory_order_acq_rel));
    return true;
  }

 private:
  // 4 chunks hold 10,000 launches: what the fastest program makes while the collector's thread
  // sleeps.
  static constexpr size_t kReady = 4;
  static constexpr size_t kPlaces = 2 * kReady;

  std::atomic<unsigned char*> begins_[kPlaces] = {};
  std::atomic<uint64_t> sequences_[kPlaces] = {};
  std::atomic<uint64_t> added_{0};
  std::atomic<uint64_t> taken_{0};
};

}  // namespace llmprof::collector
