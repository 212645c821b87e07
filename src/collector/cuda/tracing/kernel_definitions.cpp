#include "collector/cuda/tracing/kernel_definitions.h"

#include <sys/mman.h>

#include <cstring>

#include "collector/names.h"
#include "collector/recorder.h"
#include "wire/checksum.h"

namespace llmprof::collector {
namespace {

// A table of definitions, found by content. If it is full, every use gets a new definition: the log
// grows, the memory does not.
template <class Definition>
class Definitions {
 public:
  struct Entry {
    Definition definition;  // its key is 0 if the entry is free
    uint32_t defined_in;
    uint32_t reserved;
  };

  // `definition.key` is 0.
  wire::DefinitionKey key_of(Definition& definition, bool& fresh) {
    const uint32_t log = current_log();
    Entry* entry = find(definition);
    if (entry != nullptr && entry->definition.key != 0) {
      fresh = entry->defined_in != log;
      entry->defined_in = log;
      definition.key = entry->definition.key;
      return definition.key;
    }
    fresh = true;
    definition.key = ++last_key_;
    if (entry != nullptr) *entry = {definition, log, 0};
    return definition.key;
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

constinit Definitions<wire::KernelDefinition> kernels;
constinit Definitions<wire::MemoryDefinition> memory_operations;

}  // namespace

wire::DefinitionKey kernel_key(wire::KernelDefinition& definition, const char* name, bool& fresh) {
  const NameText text = measured(name == nullptr ? "(no name)" : name);
  definition.name = define(intern(text), text);
  return kernels.key_of(definition, fresh);
}

wire::DefinitionKey memory_key(wire::MemoryDefinition& definition, bool& fresh) {
  return memory_operations.key_of(definition, fresh);
}

}  // namespace llmprof::collector
