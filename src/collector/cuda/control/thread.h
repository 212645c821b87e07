#pragma once

#include <pthread.h>
#include <unistd.h>

#include <atomic>

namespace llmprof::collector {

class Alarm;

// A thread of the collector in a program of others.
class CollectorThread {
 public:
  void start(void* (*work)(void*));
  // For the thread itself.
  [[nodiscard]] bool must_stop() const { return stopping_.load(std::memory_order_acquire); }
  // Waits for it, but not for long.
  void stop(Alarm& alarm);

 private:
  std::atomic<bool> stopping_{false};
  pthread_t thread_{};
  // The process that has the thread: a forked child has none.
  std::atomic<pid_t> owner_{0};
};

}  // namespace llmprof::collector
