#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "collector/recorder.h"
#include "wire/checksum.h"
#include "wire/cuda_records.h"

namespace llmprof::collector {

// Definitions that are written once per log, found by content. If the table is full, every use gets
// a new definition: the log grows, the memory does not. For code that holds a DeviceChunk: one
// thread at a time.
template <class Definition>
class Definitions {
 public:
  struct Entry {
    Definition definition;  // its key is 0 if the entry is free
    uint32_t defined_in;
    uint32_t reserved;
  };

  // Sets the key, which must be 0. True if the definition is not in this log yet.
  bool set_key(Definition& definition) {
    const uint32_t log = current_log();
    Entry* entry = find(definition);
    const bool known = entry != nullptr && entry->definition.key != 0;
    definition.key = known ? entry->definition.key : ++last_key_;
    const bool fresh = !known || entry->defined_in != log;
    if (fresh && entry != nullptr) *entry = {definition, log, 0};
    return fresh;
  }

 private:
  static constexpr size_t kEntries = 1U << 17U;
  static constexpr size_t kLongestProbe = 32;

  // Its entry, or a free one; null if there is neither.
  Entry* find(const Definition& definition) {
    if (entries_ == nullptr && !make_table()) return nullptr;
    const uint32_t hash = wire::checksum(0, &definition, sizeof definition);
    for (size_t probe = 0; probe < kLongestProbe; ++probe) {
      Entry& entry = entries_[(hash + probe) % kEntries];
      if (entry.definition.key == 0) return &entry;
      Definition known = entry.definition;
      known.key = 0;
      if (std::memcmp(&known, &definition, sizeof known) == 0) return &entry;
    }
    return nullptr;
  }

  bool make_table() {
    void* memory = mmap(nullptr, kEntries * sizeof(Entry), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return false;
    entries_ = static_cast<Entry*>(memory);
    return true;
  }

  Entry* entries_ = nullptr;
  wire::DefinitionKey last_key_ = 0;
};

}  // namespace llmprof::collector
