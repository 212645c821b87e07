#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "collector/names.h"
#include "collector/recorder.h"
#include "wire/log_format.h"

// Writes ranges and marks to the log, from annotations and from NVTX.
namespace llmprof::collector {

struct KnownName {
  Name* entry = nullptr;
  NameText text;

  explicit KnownName(const char* name) : text(measured(name)) { entry = intern(text); }
  explicit KnownName(Name* known) : entry(known), text{known->text, known->length, known->cut} {}
  [[nodiscard]] wire::StringKey key() const { return define(entry, text); }
  [[nodiscard]] void* nvtx() const { return entry == nullptr ? nullptr : entry->nvtx; }
  [[nodiscard]] uint8_t roles() const { return entry == nullptr ? 0 : entry->roles; }
};

// `depth`: the range's; the caller keeps count.
void record_push(ThreadState& thread, size_t domain, const KnownName& name, uint32_t depth);
void record_pop(ThreadState& thread, size_t domain, uint32_t depth);

// Returns the number that ends it.
uint64_t record_start(ThreadState& thread, size_t domain, const KnownName& name);
void record_end(ThreadState& thread, uint64_t range);

void record_mark(ThreadState& thread, size_t domain, const KnownName& name);

// Called for ranges that have a role (Role). CUDA tracing uses them to decide when to record. It
// registers itself, so that annotations do not depend on it.
struct RangeListener {
  // A range with these roles opens on this thread.
  void (*opened)(uint8_t roles);
  // The range that armed the collector has closed.
  void (*arming_range_closed)();
};

// Null: not registered.
inline constinit std::atomic<const RangeListener*> range_listener = nullptr;

}  // namespace llmprof::collector
