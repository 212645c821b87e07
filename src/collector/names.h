#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "wire/log_format.h"

namespace llmprof::collector {

// A name as the program gave it, truncated to what the log can hold.
struct NameText {
  const char* bytes;
  uint16_t length;
  bool cut;
};

NameText measured(const char* name);

// A name that was seen before. Entries are never removed, and are read without a lock.
struct Name {
  std::atomic<uint64_t> hash{0};  // 0: the entry is free; written last
  const char* text = nullptr;     // null-terminated
  uint16_t length = 0;
  bool cut = false;
  uint8_t roles = 0;                    // Role
  void* nvtx = nullptr;                 // NVTX's handle, if a tool is active
  wire::StringKey key = 0;              // the same in all logs of this process and its children
  std::atomic<uint32_t> defined_in{0};  // the last log that has its definition
};

// The entry of a name, or null. Any thread, no lock.
Name* find_name(const NameText& name);

// Adds an entry with the next key; null if the table or the memory for names is full: then each use
// of a name defines it again. The caller holds the lock.
Name* add_name(const NameText& name);

// The caller holds the lock.
wire::StringKey next_key();

// What range names mean to the collector. Decided once per name, when it is first seen.
enum Role : uint8_t {
  kNoRole = 0,
  kStepRole = 1,     // each opening starts a step
  kArmRole = 2,      // recording is on while it is open
  kStageRole = 4,    // sensors are read when it opens; traced in full despite a duty cycle
  kRequestRole = 8,  // each opening starts a request
};

// From LLMPROF_STEP_RANGE and LLMPROF_ARM.
void read_roles();

uint8_t roles_of(const NameText& name);

// Domains of ranges by number: threads keep the depth of each.
inline constexpr size_t kLlmDomain = 0;
inline constexpr size_t kDefaultDomain = 1;
inline constexpr size_t kDomains = 64;

// The number of the domain with this name; kDomains if there are too many.
size_t domain_number(const char* name);

// The domain's name in the log, defined there if necessary; 0 is the default domain's.
wire::StringKey domain_key(size_t domain);

}  // namespace llmprof::collector
