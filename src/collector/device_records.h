#pragma once

#include <cstddef>
#include <cstdint>

#include "collector/chunk.h"
#include "wire/log_format.h"

// Records of no thread of the program: what GPUs did, counters, definitions. Any thread may write
// them; they take a lock of their own and are for code beside the program's path: CUPTI's buffers,
// the collector's threads.
namespace llmprof::collector {

// One record of `head` and, behind it, `tail`. False: counted as dropped.
bool write_device_record(wire::RecordType type, const void* head, size_t head_bytes,
                         const void* tail = nullptr, size_t tail_bytes = 0);

template <class Payload>
bool write_device_record(wire::RecordType type, const Payload& payload) {
  return write_device_record(type, &payload, sizeof payload);
}

// The chunk that such records go to, held for a while: for many records at once. Nothing else of
// the collector that writes device records may be called meanwhile.
class DeviceChunk {
 public:
  DeviceChunk();
  ~DeviceChunk();
  DeviceChunk(const DeviceChunk&) = delete;
  DeviceChunk& operator=(const DeviceChunk&) = delete;

  [[nodiscard]] Chunk& chunk();
  // Room for a record of so many bytes, its header included; false counts one as dropped.
  bool make_room(size_t bytes);

 private:
  int cancel_state_ = 0;
};

// The key of a text, defined in the log where it was not; 0 where that fails.
wire::StringKey text_key(const char* text);

}  // namespace llmprof::collector
