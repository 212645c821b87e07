#pragma once

#include <cstddef>
#include <cstdint>

#include "wire/log_format.h"

// Records of no thread of the program: what GPUs did, counters, definitions. Any thread may write
// them; they take a lock of their own and are for code beside the program's path: CUPTI's buffers,
// the collector's thread.
namespace llmprof::collector {

// One record of `head` and, behind it, `tail`. False: counted as dropped.
bool write_device_record(wire::RecordType type, const void* head, size_t head_bytes,
                         const void* tail = nullptr, size_t tail_bytes = 0);

template <class Payload>
bool write_device_record(wire::RecordType type, const Payload& payload) {
  return write_device_record(type, &payload, sizeof payload);
}

// The key of a text, defined in the log where it was not; 0 where that fails.
wire::StringKey text_key(const char* text);

}  // namespace llmprof::collector
