#pragma once

#include <pthread.h>

#include <cstddef>
#include <cstdint>

#include "collector/chunk.h"
#include "collector/names.h"
#include "wire/log_format.h"

// The log of this process, written by all of its threads. Nothing here fails, throws or allocates:
// records that cannot be written are counted.
namespace llmprof::collector {

// Holds a lock. Cancellation of the thread is deferred until it is released.
class LockGuard {
 public:
  explicit LockGuard(pthread_mutex_t& mutex) : mutex_(mutex) {
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state_);
    pthread_mutex_lock(&mutex_);
  }
  ~LockGuard() {
    pthread_mutex_unlock(&mutex_);
    pthread_setcancelstate(cancel_state_, nullptr);
  }
  LockGuard(const LockGuard&) = delete;
  LockGuard& operator=(const LockGuard&) = delete;

 private:
  pthread_mutex_t& mutex_;
  int cancel_state_ = 0;
};

struct ThreadState {
  Chunk chunk;                    // what it writes to next
  uint32_t serial = 0;            // 0: it has recorded nothing yet
  uint16_t depth[kDomains] = {};  // of open ranges, by domain
  bool busy = false;              // within a Call
  // The open range that armed the collector; kDomains: none.
  uint16_t arming_domain = kDomains;
  uint16_t arming_depth = 0;
};

// A call into the collector on this thread. A signal handler that interrupts one finds the thread
// busy: its records are counted as dropped.
class Call {
 public:
  Call();
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  [[nodiscard]] explicit operator bool() const { return entered_; }
  [[nodiscard]] ThreadState& thread() const { return thread_; }

 private:
  ThreadState& thread_;
  bool entered_;
};

// Work of the collector itself on this thread, inside a Call or not: signal handlers find it busy.
class OwnWork {
 public:
  OwnWork();
  ~OwnWork();
  OwnWork(const OwnWork&) = delete;
  OwnWork& operator=(const OwnWork&) = delete;

 private:
  bool busy_before_;
};

// Whether there is a log; starts it at the first call.
bool recording();

// The name's entry, added if there is none; null if there is no room left for names.
Name* intern(const NameText& text);
// The key of a name in the log, defined there if necessary; 0 if that fails.
wire::StringKey define(Name* entry, const NameText& text);
// Makes room for a record of this thread, in a new chunk if necessary; false: counted as dropped.
bool make_room(ThreadState& thread, size_t bytes);

template <class Payload>
void record(ThreadState& thread, wire::RecordType type, const Payload& payload) {
  constexpr size_t kBytes = wire::record_bytes<Payload>();
  if (thread.chunk.fits(kBytes) || make_room(thread, kBytes)) put(thread.chunk, type, payload);
}

// A fact about this process, in chunk 0; lost if the log is full.
void record_variable(const char* name, const char* value);

// The number of this process's log: a forked child starts another, without the definitions of the
// first.
uint32_t current_log();
// Counts a record that could not be written.
void drop_record();
// Maps chunks in advance, so that threads that fill theirs need no lock. For the collector's own
// thread.
void map_chunks_ahead();

// Called once each, when the library is loaded and when the process exits by exit().
void prepare_recording();
void end_recording();

// Records that belong to no thread of the program: GPU work, counters, definitions. Any thread may
// write them; they take a separate lock and are for code outside of the program's hot path: CUPTI's
// buffers, the collector's threads.
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

  [[nodiscard]] Chunk& chunk();
  // Room for a record of `bytes`, including its header; false: counted as dropped.
  bool make_room(size_t bytes);

 private:
  LockGuard locked_;
};

// The key of a text, defined in the log if necessary; 0 if that fails.
wire::StringKey text_key(const char* text);

}  // namespace llmprof::collector
