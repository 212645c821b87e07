#pragma once

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

// The unfilled part of a chunk that is mapped. One writer at a time.
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

// The chunk has room for it.
template <class Payload>
void put(Chunk& chunk, wire::RecordType type, const Payload& payload) {
  std::memcpy(chunk.cursor + sizeof(wire::RecordHeader), &payload, sizeof payload);
  publish(chunk, type, wire::record_bytes<Payload>());
}

}  // namespace llmprof::collector
