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

// Pools of the driver from which the program has allocated. Only the first ones are kept.
class KnownPools {
 public:
  void note(const KnownPool& pool) {
    const LockGuard locked(lock_);
    KnownPool* known = find(pool.pool);
    if (known == nullptr && count_ < kMost) known = &pools_[count_++];
    if (known != nullptr) *known = pool;
  }
  // Before the program destroys it.
  void remove(CUmemoryPool pool) {
    const LockGuard locked(lock_);
    KnownPool* known = find(pool);
    if (known != nullptr) *known = pools_[--count_];
  }
  // None is destroyed meanwhile.
  template <class Visit>
  void visit(Visit visit) {
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
