#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace llmprof::collector {

// Chunks that are mapped ahead, given out in the order they were added, without a lock. One thread
// adds at a time.
class SpareChunks {
 public:
  [[nodiscard]] bool wants_more() const {
    return added_.load(std::memory_order_relaxed) - taken_.load(std::memory_order_relaxed) < kReady;
  }
  void add(unsigned char* begin) {
    const uint64_t place = added_.load(std::memory_order_relaxed);
    begins_[place % kPlaces].store(begin, std::memory_order_relaxed);
    added_.store(place + 1, std::memory_order_release);
  }
  // Null where there is none.
  unsigned char* take() {
    uint64_t place = taken_.load(std::memory_order_acquire);
    unsigned char* begin = nullptr;
    do {
      if (place == added_.load(std::memory_order_acquire)) return nullptr;
      begin = begins_[place % kPlaces].load(std::memory_order_relaxed);
    } while (!taken_.compare_exchange_weak(place, place + 1, std::memory_order_acq_rel));
    return begin;
  }

 private:
  // 4 chunks are 10,000 launches: what the fastest program makes between two looks of the
  // collector's thread.
  static constexpr size_t kReady = 4;
  static constexpr size_t kPlaces = 2 * kReady;

  std::atomic<unsigned char*> begins_[kPlaces] = {};
  std::atomic<uint64_t> added_{0};
  std::atomic<uint64_t> taken_{0};
};

}  // namespace llmprof::collector
