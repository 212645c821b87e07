#pragma once

#include <cstddef>
#include <cstdint>

#include "collector/chunk.h"
#include "wire/log_format.h"

// Records that belong to no thread of the program: GPU work, counters, definitions. Any thread may
// write them; they take a separate lock and are for code outside of the program's hot path: CUPTI's
// buffers, the collector's threads.
namespace llmprof::collector {

// One record of `head` followed by `tail`. False: counted as dropped.
bool write_device_record(wire::RecordType type, const void* head, size_t head_bytes,
                         const void* tail = nullptr, size_t tail_bytes = 0);

template <class Payload>
bool write_device_record(wire::RecordType type, const Payload& payload) {
  return write_device_record(type, &payload, sizeof payload);
}

// The chunk for such records, locked to write many of them at once. Nothing else that writes device
// records may be called while it is held.
class DeviceChunk {
 public:
  DeviceChunk();
  ~DeviceChunk();
  DeviceChunk(const DeviceChunk&) = delete;
  DeviceChunk& operator=(const DeviceChunk&) = delete;

  [[nodiscard]] Chunk& chunk();
  // Room for a record of `bytes`, its header included; false: counted as dropped.
  bool make_room(size_t bytes);

 private:
  int cancel_state_ = 0;
};

// The key of a text, which is defined in the log if it was not yet; 0 if that fails.
wire::StringKey text_key(const char* text);

}  // namespace llmprof::collector
