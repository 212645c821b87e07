#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "wire/log_format.h"

namespace llmprof::collector {

// A chunk of the file that is all zero and not in use yet.
struct MappedChunk {
  unsigned char* begin = nullptr;
  uint64_t sequence = 0;  // its place in the file
};

// The unfilled part of a mapped chunk. One writer at a time.
struct Chunk {
  unsigned char* cursor = nullptr;
  unsigned char* end = nullptr;
  uint64_t sequence = 0;

  [[nodiscard]] bool mapped() const { return end != nullptr; }
  [[nodiscard]] bool fits(size_t bytes) const { return static_cast<size_t>(end - cursor) >= bytes; }
};

// The header is written last, in one store: whenever the process dies, a record is either complete
// or absent.
inline void publish(Chunk& chunk, wire::RecordType type, uint16_t size) {
  const unsigned char* payload = chunk.cursor + sizeof(wire::RecordHeader);
  const wire::RecordHeader header = {type, size,
                                     wire::record_checksum(chunk.sequence, type, size, payload)};
  uint64_t word = 0;
  std::memcpy(&word, &header, sizeof word);
  __atomic_store_n(reinterpret_cast<uint64_t*>(chunk.cursor), word, __ATOMIC_RELEASE);
  chunk.cursor += size;
}

// The chunk must have room for it.
template <class Payload>
void put(Chunk& chunk, wire::RecordType type, const Payload& payload) {
  std::memcpy(chunk.cursor + sizeof(wire::RecordHeader), &payload, sizeof payload);
  publish(chunk, type, wire::record_bytes<Payload>());
}

// Chunks mapped in advance, taken without a lock in the order they were added. One thread adds at a
// time.
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
  // 4 chunks hold 10,000 launches: as many as the fastest program makes while the collector's
  // thread sleeps.
  static constexpr size_t kReady = 4;
  static constexpr size_t kPlaces = 2 * kReady;

  std::atomic<unsigned char*> begins_[kPlaces] = {};
  std::atomic<uint64_t> sequences_[kPlaces] = {};
  std::atomic<uint64_t> added_{0};
  std::atomic<uint64_t> taken_{0};
};

}  // namespace llmprof::collector
