#pragma once

#include <cuda.h>
#include <pthread.h>

#include <cstddef>
#include <cstdint>

#include "collector/recorder.h"

namespace llmprof::collector {

struct KnownPool {
  CUmemoryPool pool;
  uint32_t device;
  uint64_t bytes;  // as the log states them
};

// Pools of the driver from which the program has allocated, until it destroys them: a pool lives on
// until its last allocation is released, but nobody may ask the driver about it. Only the first
// ones are kept.
class KnownPools {
 public:
  // A pool that was just allocated from. A known one keeps its device.
  void add(const KnownPool& pool) {
    const LockGuard locked(lock_);
    if (find(pool.pool) == nullptr && count_ < kMost) pools_[count_++] = pool;
  }
  // Before the program destroys it.
  void remove(CUmemoryPool pool) {
    const LockGuard locked(lock_);
    KnownPool* known = find(pool);
    if (known != nullptr) *known = pools_[--count_];
  }
  // Visits a known pool; none is destroyed meanwhile.
  template <class Visit>
  void visit(CUmemoryPool pool, Visit visit) {
    const LockGuard locked(lock_);
    KnownPool* known = find(pool);
    if (known != nullptr) visit(*known);
  }
  template <class Visit>
  void visit_all(Visit visit) {
    const LockGuard locked(lock_);
    for (size_t i = 0; i < count_; ++i) visit(pools_[i]);
  }

 private:
  static constexpr size_t kMost = 64;

  KnownPool* find(CUmemoryPool pool) {
    for (size_t i = 0; i < count_; ++i) {
      if (pools_[i].pool == pool) return &pools_[i];
    }
    return nullptr;
  }

  pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;
  KnownPool pools_[kMost] = {};
  size_t count_ = 0;
};

}  // namespace llmprof::collector
